// B85, sgl-project/sglang#22807: the pair pool forces the flag off for its SWA half, which stays resident.
// Needs: a hybrid pool. Expected first: SAVER_FREES.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class SwaHalfOutside final : public PoolBuilder {
 protected:
  [[nodiscard]] RegionOptions region_of(const BufferPlan& plan, const Geometry& g, bool enable) const override {
    const bool half = plan.pool == Pool::swa && plan.part != BufferPart::weights;
    return PoolBuilder::region_of(plan, g, enable && !half);
  }
};

}  // namespace

SaverMutant b85_swa_half_outside() {
  return {{.name = "B85",
           .source = "sgl-project/sglang#22807",
           .mechanism = "the SWA half of the pool is built outside of the memory saver's region",
           .caught_by = {Invariant::saver_frees},
           .supports = pausable_hybrid},
          with_builder<SwaHalfOutside>()};
}

}  // namespace poolproof
