// B15 repaired too far, sgl-project/sglang#38571: the page return is gated by the ring, and the gate skips clearing the
// mapping as well. The crash is gone and a re-lent page reads what a load-back set for its former owner.
// Needs: a ring, and a load-back (`remap`) before the free. Expected first: MAPPING_CLEARED at the free,
// GROUP_OWNERSHIP inside a group.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class RingNoClear final : public Mutated<RingNoClear, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void free_swa_pages(Side /*side*/, std::span<const Page> /*full_pages*/) override {}
};

}  // namespace

ImplInfo b15_ring_no_clear() {
  return hybrid_mutant<RingNoClear>({
      .name = "B15-no-clear",
      .source = "sgl-project/sglang#38571",
      .mechanism = "in ring mode a free skips the SWA half altogether, the clearing of the mapping included",
      .caught_by = {Invariant::mapping_cleared, Invariant::group_ownership},
      .supports = ringed,
  });
}

}  // namespace poolproof
