// A set-shaped free pushes each page at a place that an atomic counter gives: the order is that in which threads
// arrive, which is another on every run and every rank. One replica alone holds. Needs: any pool, two ranks. Expected
// first: RANKS_AGREE.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class PushByArrival final : public MutatedPools<PushByArrival> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) override {
    device().zero(kernel.pools.touched_count, sizeof(std::int64_t));
    device().run(kernels::FreeSetByArrivalKernel{kernel}, blocks);
  }
};

}  // namespace

DeviceMutant push_by_arrival() {
  return device_mutant<PushByArrival>(
      {
          .name = "push-by-arrival",
          .source = "stream compaction by an atomic counter, whose order is not defined",
          .mechanism = "a free pushes its pages in the order in which threads arrive, so that ranks come to differ",
          .caught_by = {Invariant::ranks_agree},
          .supports = any_geometry,
      },
      NeedsDevice::no, 2);
}

}  // namespace poolproof
