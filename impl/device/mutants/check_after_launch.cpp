// The kernel of an extend runs before the need is compared with what is free: it reads the free list past its end, and
// the count goes below zero. The call is refused all the same. Needs: device memory, in which that read finds
// something; a layout whose mapping it cannot spoil. Expected first: ALL_OR_NOTHING or AVAIL_EXACT; what was read may
// be lent later: SENTINEL_UNTOUCHED and such.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class CheckAfterLaunch final : public MutatedPools<CheckAfterLaunch> {
 public:
  using MutatedPools::MutatedPools;

  Answer alloc_extend(const ExtendBatch& batch, Loc* out) override {
    fits_ = true;
    const Answer answer = DevicePools::alloc_extend(batch, out);
    return fits_ ? answer : Answer::refused;
  }

 protected:
  bool make_joint_room(std::int64_t full_pages, std::int64_t swa_pages) override {
    fits_ = DevicePools::make_joint_room(full_pages, swa_pages);
    return true;
  }

 private:
  bool fits_ = true;
};

}  // namespace

DeviceMutant check_after_launch() {
  return device_mutant<CheckAfterLaunch>(
      {
          .name = "check-after-launch",
          .source = "sgl-project/sglang#30892",
          .mechanism =
              "extend launches its kernel, which reads the free list past its end, and compares the need after",
          .caught_by = {Invariant::all_or_nothing, Invariant::avail_exact, Invariant::sentinel_untouched,
                        Invariant::free_list_clean, Invariant::no_double_lend},
          .supports = [](const Geometry& g) { return g.layout == Layout::paged; },
      },
      NeedsDevice::parallel);
}

}  // namespace poolproof
