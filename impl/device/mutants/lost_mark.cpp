// Page flags are raised by load, or and store instead of one atomic: of two threads that raise flags of one word at the
// same time, one is lost, and its page with it.
// Needs: threads that really run at the same time. Expected first: AVAIL_EXACT; MAPPING_CLEARED where the lost page has
// peers; inside a group CONSERVATION, GROUP_DRAINS or GROUP_OWNERSHIP.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class LostMark final : public MutatedPools<LostMark> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) override {
    kernels::FreeSetLostMarkKernel faulty;
    faulty.pools = kernel.pools;
    faulty.locs = kernel.locs;
    faulty.loc_count = kernel.loc_count;
    faulty.give_full = kernel.give_full;
    faulty.target = kernel.target;
    device().run(faulty, blocks);
  }
};

}  // namespace

DeviceMutant lost_mark() {
  return device_mutant<LostMark>(
      {
          .name = "lost-mark",
          .source = "a lost update, the textbook race of a bitmap without atomics",
          .mechanism = "a free marks pages by load, or, store; of two threads in one word one loses its page",
          .caught_by = {Invariant::avail_exact, Invariant::mapping_cleared, Invariant::conservation,
                        Invariant::group_drains, Invariant::group_ownership},
          .supports = any_geometry,
      },
      NeedsDevice::parallel);
}

}  // namespace poolproof
