// Lending compares the need with the free list and forgets the staged pages: it refuses what fits after a merge.
// Needs: need_sort. Expected first: SERVED_WHEN_FITS.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class NoMergeWhenShort final : public Mutated<NoMergeWhenShort<Twin>, Twin> {
 public:
  using Mutated<NoMergeWhenShort<Twin>, Twin>::Mutated;

 protected:
  bool make_room(Pool which, std::int64_t pages) override { return pages <= this->pool(which).free_pages(); }
};

}  // namespace

ImplInfo no_merge_when_short() {
  return any_layout_mutant<NoMergeWhenShort>({
      .name = "no-merge-when-short",
      .source = "seeded from the need_sort merge of alloc_extend",
      .mechanism = "an alloc that runs short refuses without merging the staged pages",
      .caught_by = {Invariant::served_when_fits},
      .supports = staging,
  });
}

}  // namespace poolproof
