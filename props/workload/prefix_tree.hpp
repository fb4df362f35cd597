// The prefix cache's tree: which prompts' blocks are kept, who uses them, what goes first when room is needed.
//
// A node is one block of tokens behind its parent's. The pages of a path are held by rows of the trace: each leaf has
// one, which holds the whole path from position 0 on, and so holds every node above it too. Running requests hold the
// path that they were given. The tree only keeps the books; who changes it makes the ops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/units.hpp"

namespace poolproof {

/// A block of a prompt; two are the same when both fields are.
struct PromptBlock {
  std::uint64_t key = 0;
  Pos tokens = 0;
  auto operator<=>(const PromptBlock&) const = default;
};

using PrefixNodeId = std::uint32_t;

struct PrefixNode {
  PrefixNodeId parent = 0;
  PromptBlock block;
  Pos begin = 0;
  Pos end = 0;
  Pos swa_from = 0;          ///< the SWA halves of [begin, swa_from) are gone
  std::uint64_t used = 0;    ///< when it was used last, by the tree's own count
  std::vector<Row> running;  ///< requests that hold it
  std::map<PromptBlock, PrefixNodeId> children;
  std::optional<Row> row;  ///< of a leaf
};

class PrefixTree {
 public:
  static constexpr PrefixNodeId root = 0;

  /// Where a walk from the root ended.
  struct Found {
    PrefixNodeId node = root;
    Pos end = 0;
    std::size_t blocks = 0;  ///< that it went along
  };

  /// What remove_last took away: positions `freed` of `row`, which holds `kept` others before them.
  struct Removed {
    Row row = 0;
    Range freed;
    Tokens swa_tokens = 0;  ///< of them that still had their SWA half
    bool row_ends = false;  ///< nobody needs the row any more; what it keeps is held by others
  };

  /// windowed: nodes have SWA halves that can go alone.
  explicit PrefixTree(bool windowed);

  [[nodiscard]] const PrefixNode& node(PrefixNodeId id) const { return nodes_[id]; }
  [[nodiscard]] bool leaf(PrefixNodeId id) const { return id != root && nodes_[id].children.empty(); }
  /// As far as the blocks are there.
  [[nodiscard]] Found walk(std::span<const PromptBlock> blocks) const;
  /// The longest beginning of at most `limit` tokens behind which a request can go on: the SWA halves of its last
  /// `window` positions are there.
  [[nodiscard]] Found match(std::span<const PromptBlock> blocks, Pos limit, Pos window) const;
  /// A row that holds the node.
  [[nodiscard]] Row row_of(PrefixNodeId id) const;
  /// All rows of leaves that hold the node, as far as there are no more than `most`.
  [[nodiscard]] std::optional<std::vector<Row>> rows_of(PrefixNodeId id, std::size_t most) const;

  /// New nodes behind `at`, the last of which gets `row`; one that `at` had is forgotten. Positions before `swa_from`
  /// have lost their SWA half.
  PrefixNodeId grow(PrefixNodeId at, std::span<const PromptBlock> blocks, Pos swa_from, Row row);
  /// The node and those above it were used; what stands higher counts as used later.
  void touch(PrefixNodeId id);
  /// The request holds the node and all above it.
  void lock(PrefixNodeId id, Row request);
  void unlock(PrefixNodeId id, Row request);
  void set_swa_from(PrefixNodeId id, Pos from);
  /// Takes a leaf that nobody runs on, and what stands above it alone, until `wanted` tokens are free.
  Removed remove_last(PrefixNodeId leaf, Tokens wanted);

  /// Used longest ago of the leaves that nobody runs on.
  [[nodiscard]] std::optional<PrefixNodeId> oldest_leaf() const;
  /// Nodes with an SWA half, in the order of their use.
  [[nodiscard]] const std::set<std::pair<std::uint64_t, PrefixNodeId>>& swa_by_use() const { return swa_by_use_; }
  /// Tokens of nodes that nobody runs on: all of them can be had.
  [[nodiscard]] Tokens idle_tokens() const { return idle_tokens_; }
  [[nodiscard]] Tokens idle_swa_tokens() const { return idle_swa_tokens_; }
  [[nodiscard]] std::size_t leaves() const { return leaves_; }

 private:
  PrefixNodeId add(PrefixNodeId parent, PromptBlock block, Pos swa_from);
  void remove(PrefixNodeId leaf);
  /// Takes the node out of the orders and sums, and puts it back as it is then.
  void unlist(PrefixNodeId id);
  void list(PrefixNodeId id);

  bool windowed_;
  std::vector<PrefixNode> nodes_;
  std::vector<PrefixNodeId> spare_;
  std::set<std::pair<std::uint64_t, PrefixNodeId>> leaves_by_use_;  ///< that nobody runs on
  std::set<std::pair<std::uint64_t, PrefixNodeId>> swa_by_use_;
  std::uint64_t uses_ = 0;
  Tokens idle_tokens_ = 0;
  Tokens idle_swa_tokens_ = 0;
  std::size_t leaves_ = 0;
};

}  // namespace poolproof
