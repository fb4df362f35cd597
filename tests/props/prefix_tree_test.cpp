// The prefix cache's tree against its own books, kept anew from the nodes after each of many random changes.
#include "props/workload/prefix_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "props/choices.hpp"

namespace poolproof {
namespace {

std::vector<PromptBlock> path(std::initializer_list<std::uint64_t> keys) {
  std::vector<PromptBlock> blocks;
  for (const std::uint64_t key : keys) {
    blocks.push_back({key, 512});
  }
  return blocks;
}

TEST(PrefixTree, WalksAndMatches) {
  PrefixTree tree(true);
  const auto abc = path({1, 2, 3});
  const PrefixNodeId leaf = tree.grow(PrefixTree::root, abc, 0, 9);
  EXPECT_EQ(tree.node(leaf).end, 1536);
  EXPECT_EQ(tree.row_of(leaf), 9U);
  EXPECT_EQ(tree.walk(path({1, 2, 7})).end, 1024);
  EXPECT_EQ(tree.walk(path({2})).end, 0);
  EXPECT_EQ(tree.match(abc, 1535, 128).end, 1024);
  EXPECT_EQ(tree.match(abc, 1536, 128).end, 1536);
  EXPECT_TRUE(tree.leaf(leaf));
  EXPECT_EQ(tree.leaves(), 1U);
}

TEST(PrefixTree, AMatchNeedsItsWindow) {
  PrefixTree tree(true);
  const auto abc = path({1, 2, 3});
  tree.grow(PrefixTree::root, abc, 1000, 0);  // positions before 1000 have lost their SWA half
  EXPECT_EQ(tree.match(abc, 4096, 24).end, 1536);
  EXPECT_EQ(tree.match(abc, 1535, 24).end, 1024);
  EXPECT_EQ(tree.match(abc, 1535, 25).end, 0);
  EXPECT_EQ(tree.match(abc, 4096, 536).end, 1536);
  EXPECT_EQ(tree.match(abc, 4096, 537).end, 0);
  tree.set_swa_from(tree.walk(path({1, 2})).node, 512);
  EXPECT_EQ(tree.match(abc, 4096, 1024).end, 1536);
  EXPECT_EQ(tree.match(path({1}), 4096, 1).end, 0);
}

TEST(PrefixTree, APathThatIsShorterThanTheWindowMustBeWhole) {
  PrefixTree tree(true);
  tree.grow(PrefixTree::root, path({1}), 0, 0);
  EXPECT_EQ(tree.match(path({1}), 4096, 4096).end, 512);
}

TEST(PrefixTree, RowsOfANode) {
  PrefixTree tree(false);
  const PrefixNodeId trunk = tree.grow(PrefixTree::root, path({1}), 0, 0);
  tree.grow(trunk, path({2}), 0, 5);
  tree.grow(trunk, path({3, 4}), 0, 6);
  EXPECT_FALSE(tree.node(trunk).row);
  EXPECT_EQ(tree.rows_of(trunk, 2)->size(), 2U);
  EXPECT_EQ(tree.rows_of(trunk, 1), std::nullopt);
  EXPECT_EQ(tree.leaves(), 2U);
}

TEST(PrefixTree, RemovesFromTheEnd) {
  PrefixTree tree(true);
  const PrefixNodeId trunk = tree.grow(PrefixTree::root, path({1, 2}), 0, 4);
  const PrefixNodeId left = tree.grow(trunk, path({3, 4, 5}), 1600, 5);
  const PrefixNodeId right = tree.grow(trunk, path({6}), 0, 6);
  const PrefixTree::Removed part = tree.remove_last(left, 513);
  EXPECT_EQ(part.row, 5U);
  EXPECT_EQ(part.freed, (Range{1536, 2560}));
  EXPECT_EQ(part.swa_tokens, 2560 - 1600);
  EXPECT_FALSE(part.row_ends);
  const PrefixTree::Removed rest = tree.remove_last(tree.walk(path({1, 2, 3})).node, 10'000);
  EXPECT_EQ(rest.freed, (Range{1024, 1536}));
  EXPECT_TRUE(rest.row_ends) << "the trunk is held by another leaf";
  tree.lock(trunk, 77);
  const PrefixTree::Removed other = tree.remove_last(right, 10'000);
  EXPECT_EQ(other.freed, (Range{1024, 1536}));
  EXPECT_FALSE(other.row_ends) << "a request runs on the trunk, which is a leaf now";
  EXPECT_EQ(tree.row_of(trunk), 6U);
  EXPECT_EQ(tree.oldest_leaf(), std::nullopt);
  tree.unlock(trunk, 77);
  EXPECT_TRUE(tree.remove_last(*tree.oldest_leaf(), 10'000).row_ends);
  EXPECT_EQ(tree.leaves(), 0U);
}

TEST(PrefixTree, TheOneUsedLongestAgoGoesFirst) {
  PrefixTree tree(true);
  const PrefixNodeId a = tree.grow(PrefixTree::root, path({1}), 0, 0);
  const PrefixNodeId b = tree.grow(PrefixTree::root, path({2}), 0, 1);
  EXPECT_EQ(tree.oldest_leaf(), a);
  tree.touch(a);
  EXPECT_EQ(tree.oldest_leaf(), b);
  tree.lock(b, 5);
  EXPECT_EQ(tree.oldest_leaf(), a);
  EXPECT_EQ(tree.swa_by_use().begin()->second, b);
}

/// The sums and orders of the tree are those of its nodes.
class TreeBooks {
 public:
  explicit TreeBooks(bool windowed) : tree(windowed), windowed_(windowed) {}

  void check(const std::vector<PrefixNodeId>& live) const {
    Tokens idle = 0;
    Tokens idle_swa = 0;
    std::size_t with_swa = 0;
    std::size_t leaves = 0;
    for (const PrefixNodeId id : live) {
      const PrefixNode& node = tree.node(id);
      leaves += node.row ? 1 : 0;
      EXPECT_EQ(node.row.has_value(), node.children.empty());
      with_swa += windowed_ && node.swa_from < node.end ? 1 : 0;
      if (node.running.empty()) {
        idle += node.end - node.begin;
        idle_swa += windowed_ ? node.end - node.swa_from : 0;
      } else if (node.parent != PrefixTree::root) {
        EXPECT_FALSE(tree.node(node.parent).running.empty());
      }
    }
    EXPECT_EQ(tree.idle_tokens(), idle);
    EXPECT_EQ(tree.idle_swa_tokens(), idle_swa);
    EXPECT_EQ(tree.swa_by_use().size(), with_swa);
    EXPECT_EQ(tree.leaves(), leaves);
  }

  [[nodiscard]] std::vector<PrefixNodeId> live() const {
    std::vector<PrefixNodeId> found;
    std::vector<PrefixNodeId> open{PrefixTree::root};
    while (!open.empty()) {
      const PrefixNodeId id = open.back();
      open.pop_back();
      for (const auto& [block, child] : tree.node(id).children) {
        found.push_back(child);
        open.push_back(child);
      }
    }
    return found;
  }

  PrefixTree tree;

 private:
  bool windowed_;
};

TEST(PrefixTree, ItsBooksAreRight) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomChoices choices(seed, 1);
    TreeBooks books(seed % 2 == 0);
    std::vector<std::pair<PrefixNodeId, Row>> locks;
    std::uint64_t next_key = 0;
    for (int step = 0; step < 120; ++step) {
      std::vector<PrefixNodeId> live = books.live();
      const PrefixNodeId any = live.empty() ? PrefixTree::root : live[choices.draw(live.size())];
      switch (choices.draw(6)) {
        case 0:
        case 1: {
          std::vector<PromptBlock> blocks(1 + choices.draw(3));
          for (PromptBlock& block : blocks) {
            block = {next_key++, 512};
          }
          books.tree.grow(any, blocks, static_cast<Pos>(choices.draw(4000)), static_cast<Row>(step));
          break;
        }
        case 2:
          books.tree.touch(any);
          break;
        case 3:
          books.tree.lock(any, static_cast<Row>(step));
          locks.emplace_back(any, static_cast<Row>(step));
          break;
        case 4:
          if (!locks.empty()) {
            books.tree.unlock(locks.back().first, locks.back().second);
            locks.pop_back();
          }
          break;
        default:
          if (books.tree.oldest_leaf()) {
            books.tree.remove_last(*books.tree.oldest_leaf(), static_cast<Tokens>(choices.draw(2000)));
          }
      }
      books.check(books.live());
    }
  }
}

}  // namespace
}  // namespace poolproof
