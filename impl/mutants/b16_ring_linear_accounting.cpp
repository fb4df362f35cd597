// B16, sgl-project/sglang#31040 and #30315: a ring's bound is free request slots, but the SWA side is still accounted
// as a pool that each chunk consumes token by token. Needs: a ring. Expected first: AVAIL_EXACT, at the first lending
// without a slot or the second within one.
#include <algorithm>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class RingLinearAccounting final : public Mutated<RingLinearAccounting, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer gauges(Gauges& out) override {
    const Answer answer = HybridAllocator::gauges(out);
    out.swa_available = std::max<Tokens>(0, out.swa_size - (out.full_size - out.full_available));
    return answer;
  }
};

}  // namespace

ImplInfo b16_ring_linear_accounting() {
  return hybrid_mutant<RingLinearAccounting>({
      .name = "B16",
      .source = "sgl-project/sglang#31040",
      .mechanism = "in ring mode SWA capacity is charged token by token instead of slot by slot",
      .caught_by = {Invariant::avail_exact},
      .supports = ringed,
  });
}

}  // namespace poolproof
