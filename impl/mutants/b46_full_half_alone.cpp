// B46, sgl-project/sglang#36637: a free of both halves releases the full half alone for the last page of its range. The
// full page is lent again, its mapping is overwritten, and the SWA page is lost.
// Needs: a paired pool, and a free of more than one page. Expected first: MAPPING_CLEARED, inside a group
// GROUP_OWNERSHIP.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class FullHalfAlone final : public Mutated<FullHalfAlone, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void free_swa_pages(Side side, std::span<const Page> full_pages) override {
    const bool half = side == Side::both && full_pages.size() > 1;
    HybridAllocator::free_swa_pages(side, half ? full_pages.first(full_pages.size() - 1) : full_pages);
  }
};

}  // namespace

ImplInfo b46_full_half_alone() {
  return hybrid_mutant<FullHalfAlone>({
      .name = "B46",
      .source = "sgl-project/sglang#36637",
      .mechanism = "free releases the full half alone for the last page of its range",
      .caught_by = {Invariant::mapping_cleared, Invariant::group_ownership},
      .supports = paired,
  });
}

}  // namespace poolproof
