// B15 at the group's end, sgl-project/sglang#38571: with a ring the paged SWA allocator lends nothing, yet the peers of
// frees inside a group are queued and returned when it closes. In the engine's warm-up the available size climbed past
// the size and the scheduler died.
// Needs: a ring. Expected first: RING_POOL_IDLE, at the group's end.
#include "impl/mutants/mutants.hpp"
#include "impl/mutants/ring_peers.hpp"

namespace poolproof {
namespace {

class RingGroupEnd final : public Mutated<RingGroupEnd, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void free_swa_pages(Side side, std::span<const Page> full_pages) override {
    if (group_open()) {
      give_back(Pool::swa, representative_peer_pages(mapping(), pool(Pool::full), full_pages));
    }
    HybridAllocator::free_swa_pages(side, full_pages);
  }
};

}  // namespace

ImplInfo b15_ring_group_end() {
  return hybrid_mutant<RingGroupEnd>({
      .name = "B15-group-end",
      .source = "sgl-project/sglang#38571",
      .mechanism = "in ring mode the end of a free group returns pages to the paged SWA pool",
      .caught_by = {Invariant::ring_pool_idle},
      .supports = ringed,
  });
}

}  // namespace poolproof
