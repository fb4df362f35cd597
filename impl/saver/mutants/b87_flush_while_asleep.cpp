// B87, vllm-project/vllm-omni#6442: what was lent before a pause outlives it: a flush while the pool sleeps is passed
// over, as there is nothing to reset, and after the wake the allocator still holds blocks whose content is gone. Needs:
// the saver on. Expected first: AVAIL_EXACT.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class FlushWhileAsleep final : public Mutated<FlushWhileAsleep<Twin>, Twin> {
 public:
  using Mutated<FlushWhileAsleep<Twin>, Twin>::Mutated;

  Answer clear() override {
    return saved_pools(this->storage()).paused(MemoryTag::kv_cache) ? Answer::served : Twin::clear();
  }
};

}  // namespace

SaverMutant b87_flush_while_asleep() {
  return {{.name = "B87",
           .source = "vllm-project/vllm-omni#6442",
           .mechanism = "a flush while the pool is paused keeps what was lent",
           .caught_by = {Invariant::avail_exact},
           .supports = pausable},
          with_twin<FlushWhileAsleep>()};
}

}  // namespace poolproof
