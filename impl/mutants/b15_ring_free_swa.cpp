// B15 at the direct free site, sgl-project/sglang#38571: with a ring the paged SWA allocator lends nothing, yet a free
// outside a group returns the pages of the peers that it reads from the mapping: page 0, or what a load-back left
// there. Needs: a ring. Expected first: RING_POOL_IDLE.
#include "impl/mutants/mutants.hpp"
#include "impl/mutants/ring_peers.hpp"

namespace poolproof {
namespace {

class RingFreeSwa final : public Mutated<RingFreeSwa, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void free_swa_pages(Side side, std::span<const Page> full_pages) override {
    if (!group_open()) {
      return_pages(Pool::swa, representative_peer_pages(mapping(), pool(Pool::full), full_pages));
    }
    HybridAllocator::free_swa_pages(side, full_pages);
  }
};

}  // namespace

ImplInfo b15_ring_free_swa() {
  return hybrid_mutant<RingFreeSwa>({
      .name = "B15-free-swa",
      .source = "sgl-project/sglang#38571",
      .mechanism = "in ring mode a direct free returns pages to the paged SWA pool",
      .caught_by = {Invariant::ring_pool_idle},
      .supports = ringed,
  });
}

}  // namespace poolproof
