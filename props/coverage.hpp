// What a run exercised: each op, each outcome, each ordered pair of ops, and the corners that matter (a pool filled
// exactly, one over, a ring that wrapped, a slot that was recycled, a merge, a mapping rewritten inside a group, ...).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/geometry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// Corners, each counted once an occurrence. What cannot be told without knowing page choices is told from the counts
/// that are determined.
enum class Corner : std::uint8_t {
  full_exhausted,        ///< an op left the full pool with no free page
  swa_exhausted,         ///< the same of the paged SWA pool
  one_over,              ///< a lending op refused for want of exactly one page
  exactly_full,          ///< a lending op that took the last page of a pool, and as many as it asked for
  swa_bound_refusal,     ///< refused although the full pool could serve
  slot_refused,          ///< `slot` refused
  slot_recycled,         ///< `slot` served when as many were taken before as there are: one of them comes again
  ring_wrapped,          ///< a write past the ring's size
  tombstone_made,        ///< free_swa of a paired hybrid
  tombstone_recovered,   ///< remap of a paired hybrid
  remap_offset,          ///< remap between different page offsets, paired
  remap_in_group,        ///< remap inside an open group
  prefix_shared,         ///< copy
  shared_freed,          ///< a page of more than one holder freed by one call
  speculation_rejected,  ///< trim
  page_border,           ///< a lending op that ends a row at a page border
  window_border,         ///< free_swa of a running request that ends exactly at C8's bound
  alloc_in_group,        ///< lending inside an open group
  group_many,            ///< a group of at least three frees
  group_empty,           ///< a group of none
  duplicate_in_free,     ///< a set-shaped free that names a row's page in two pieces
  partial_last_page,     ///< a segment that ends inside a page
  restore_after_change,  ///< a restore after something was lent, freed or remapped
  retract,               ///< a running request freed whole, then extended again
};
inline constexpr std::size_t corner_count = 24;
std::string_view corner_name(Corner corner);

class Coverage {
 public:
  /// Before the op is stepped: looks at the machine's state. After: counts with the outcome.
  void before(const Op& op, Machine& machine);
  void after(const Op& op, Machine& machine, bool refused);
  /// A new trace begins: no pair across it. `offered`: the words that can be run at all.
  void new_trace(const Geometry& geometry, const OpWords& offered = OpWords().set());
  void merge(const Coverage& other);

  [[nodiscard]] std::uint64_t ops() const;
  [[nodiscard]] std::uint64_t served(OpWord word) const { return served_[static_cast<std::size_t>(word)]; }
  [[nodiscard]] std::uint64_t refused(OpWord word) const { return refused_[static_cast<std::size_t>(word)]; }
  [[nodiscard]] std::uint64_t pair(OpWord first, OpWord second) const {
    return pairs_[static_cast<std::size_t>(first)][static_cast<std::size_t>(second)];
  }
  [[nodiscard]] std::uint64_t corner(Corner corner) const { return corners_[static_cast<std::size_t>(corner)]; }

  /// What the geometries seen could have shown (props/feasible.hpp) and did not: "extend refused",
  /// "pair group_begin -> free_swa", "corner ring_wrapped". Empty = covered.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  /// What `before` saw and `after` needs.
  struct Eve {
    std::int64_t full_free = 0;
    std::int64_t swa_free = 0;
    std::int64_t need_full = 0;
    std::int64_t need_swa = 0;
    bool group_open = false;
    bool shared_free = false;
    bool window_border = false;
    std::vector<Row> running;  ///< rows named by a free, with a slot and tokens
  };
  /// Corners of the trace's past, forgotten with it.
  struct Past {
    std::int32_t last_word = -1;
    std::uint32_t group_frees = 0;
    std::int64_t slots_taken = 0;
    std::uint64_t changes = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> backups;  ///< name, changes then
    std::vector<Row> retracted;
  };

  void hit(Corner corner, bool happened = true) { corners_[static_cast<std::size_t>(corner)] += happened ? 1 : 0; }
  void note_kind(const Geometry& geometry, const OpWords& offered);
  void look_at_need(const Op& op, const Machine& machine);
  void look_at_pieces(const Op& op, const Machine& machine);
  void count_pools(const Machine& machine);
  void count_lending(const Op& op, const Machine& machine, bool refused);
  void count_release(const Op& op, const Machine& machine);
  void count_group(OpWord word);
  void count_slot(const Machine& machine, bool refused);
  void count_state(const Op& op);
  void count_sharing(const Op& op, const Machine& machine);

  std::array<std::uint64_t, op_word_count> served_{};
  std::array<std::uint64_t, op_word_count> refused_{};
  std::array<std::array<std::uint64_t, op_word_count>, op_word_count> pairs_{};
  std::array<std::uint64_t, corner_count> corners_{};
  /// A kind of geometry, and the words that the implementation offers on it.
  struct Kind {
    Geometry geometry;
    OpWords offered;
  };
  std::vector<Kind> kinds_;  ///< for what is feasible
  Eve eve_;
  Past past_;
};

}  // namespace poolproof
