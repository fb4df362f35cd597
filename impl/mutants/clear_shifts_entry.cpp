// Clearing a page's entries moves the first one to the next full page instead of dropping it, an insertion in place of
// a fill. While that page is free nobody reads the entry, which names an SWA page that was given back. Needs: a paired
// pool. Expected first: MAPPING_LIVE at a census, MAPPING_INJECTIVE or MAPPING_CLEARED
// once the SWA page is lent again.
#include <algorithm>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class ClearShiftsEntry final : public Mutated<ClearShiftsEntry, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void detach_peers(std::span<const Page> full_pages) override {
    const PagePool& pages = pool(Pool::full);
    const std::vector<Page>& free = pages.lists().free;
    for (const Page page : full_pages) {
      const Loc dropped = mapping().at(pages.first_loc(page));
      HybridAllocator::detach_peers({&page, 1});
      if (std::find(free.begin(), free.end(), page + 1) != free.end()) {
        mapping().set(pages.first_loc(page + 1), dropped);
      }
    }
  }
};

}  // namespace

ImplInfo clear_shifts_entry() {
  return hybrid_mutant<ClearShiftsEntry>({
      .name = "clear-shifts-entry",
      .source = "seeded from the mapping clear of a free",
      .mechanism = "a free moves a page's first mapping entry to the next full page, while that page is free",
      .caught_by = {Invariant::mapping_live, Invariant::mapping_injective, Invariant::mapping_cleared},
      .supports = paired,
  });
}

}  // namespace poolproof
