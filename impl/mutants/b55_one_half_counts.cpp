// B55, ggml-org/llama.cpp#29045: the pair answers for both halves what one of them says. Here what is available of the
// pair is what the SWA half has, though the full one may have less. Needs: a paired pool. Expected first: AVAIL_EXACT.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class OneHalfCounts final : public Mutated<OneHalfCounts, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer gauges(Gauges& out) override {
    const Answer answer = HybridAllocator::gauges(out);
    out.available = out.swa_available;
    return answer;
  }
};

}  // namespace

ImplInfo b55_one_half_counts() {
  return hybrid_mutant<OneHalfCounts>({
      .name = "B55",
      .source = "ggml-org/llama.cpp#29045",
      .mechanism = "the pair's available size is the SWA half's alone",
      .caught_by = {Invariant::avail_exact, Invariant::avail_le_size},
      .supports = paired,
  });
}

}  // namespace poolproof
