// A store to the mapping is rounded up to a vector's width: the last pair of a lending is written to the first slot of
// the next full page as well. While that page is free nobody reads the entry.
// Needs: a paired pool. Expected first: MAPPING_INJECTIVE at a census, MAPPING_LIVE once the SWA page is returned and
// MAPPING_CLEARED when it is lent again.
#include <algorithm>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class MappingSpillsOver final : public Mutated<MappingSpillsOver, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void pair(std::span<const Loc> full, std::span<const Loc> swa) override {
    HybridAllocator::pair(full, swa);
    if (full.empty()) {
      return;
    }
    const PagePool& pages = pool(Pool::full);
    const std::vector<Page>& free = pages.lists().free;
    const Page next = pages.page_of(full.back()) + 1;
    if (std::find(free.begin(), free.end(), next) != free.end()) {
      mapping().set(pages.first_loc(next), swa.back());
    }
  }
};

}  // namespace

ImplInfo mapping_spills_over() {
  return hybrid_mutant<MappingSpillsOver>({
      .name = "mapping-spills-over",
      .source = "seeded from the pairing of a lending",
      .mechanism = "pairing writes the first entry of the next full page as well, while that page is free",
      .caught_by = {Invariant::mapping_injective, Invariant::mapping_live, Invariant::mapping_cleared},
      .supports = paired,
  });
}

}  // namespace poolproof
