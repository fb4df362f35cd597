// Staged pages are put behind the free list when lending runs short, and the list is not sorted.
// Needs: need_sort. Expected first: SORTED_WHEN_MERGED, at a census.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class MergeWithoutSort final : public Mutated<MergeWithoutSort<Twin>, Twin> {
 public:
  using Mutated<MergeWithoutSort<Twin>, Twin>::Mutated;

 protected:
  bool make_room(Pool which, std::int64_t pages) override {
    PagePool& pool = this->pool(which);
    if (pages > pool.free_pages()) {
      PageLists lists = pool.lists();
      lists.free.insert(lists.free.begin(), lists.staged.begin(), lists.staged.end());
      lists.staged.clear();
      pool.set_lists(lists);
    }
    return pages <= pool.free_pages();
  }
};

}  // namespace

ImplInfo merge_without_sort() {
  return any_layout_mutant<MergeWithoutSort>({
      .name = "merge-without-sort",
      .source = "seeded from the need_sort merge",
      .mechanism = "staged pages are merged behind the free list and nothing is sorted",
      .caught_by = {Invariant::sorted_when_merged},
      .supports = staging,
  });
}

}  // namespace poolproof
