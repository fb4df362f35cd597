// A group keeps views of the index array instead of copies. The caller reuses its array, so each later free overwrites
// what the first ones queued: their pages are never returned.
// Needs: any pool, and two frees in one group. Expected first: CONSERVATION at a census inside the
// group, else GROUP_DRAINS at its end.
#include <algorithm>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class GroupBorrowsIndices final : public Mutated<GroupBorrowsIndices<Twin>, Twin> {
 public:
  using Mutated<GroupBorrowsIndices<Twin>, Twin>::Mutated;

 protected:
  void give_back(Pool which, std::span<const Page> pages) override {
    if (this->group_open()) {
      std::vector<Page>& queue = this->deferred(which);
      std::copy_n(pages.begin(), std::min(pages.size(), queue.size()), queue.begin());
    }
    Twin::give_back(which, pages);
  }
};

}  // namespace

ImplInfo group_borrows_indices() {
  return any_layout_mutant<GroupBorrowsIndices>({
      .name = "group-borrows-indices",
      .source = "seeded from the rule that a group owns a copy",
      .mechanism = "a group keeps views of a caller's buffer, which the next free overwrites",
      .caught_by = {Invariant::conservation, Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
