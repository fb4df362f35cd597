// The end of a group pushes onto the counts of the group's beginning: what was lent inside the group counts as free
// again. Needs: any pool. Expected first: AVAIL_EXACT; FREE_LIST_CLEAN where the lists are looked at.
#include "impl/device/mutants/device_mutant.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

class StaleCountAfterGroup final : public MutatedPools<StaleCountAfterGroup> {
 public:
  using MutatedPools::MutatedPools;

  bool free_group_begin() override {
    const bool opened = DevicePools::free_group_begin();
    if (opened) {
      const DeviceCounters now = learn();
      full_ = geometry().need_sort ? now.full.staged : now.full.free;
      swa_ = geometry().need_sort ? now.swa.staged : now.swa.free;
    }
    return opened;
  }
  void digest(StateDigest& out) const override {
    out.number(static_cast<std::uint64_t>(full_));
    out.number(static_cast<std::uint64_t>(swa_));
    DevicePools::digest(out);
  }

 protected:
  void launch_close_group(const kernels::CloseGroupKernel& kernel, std::int64_t blocks) override {
    device().run(kernels::CloseGroupStaleKernel{kernel, full_, swa_}, blocks);
  }

 private:
  std::int64_t full_ = 0;  ///< counts of the lists that the group's pages go to
  std::int64_t swa_ = 0;
};

}  // namespace

DeviceMutant stale_count_after_group() {
  return device_mutant<StaleCountAfterGroup>({
      .name = "stale-count-after-group",
      .source = "sgl-project/sglang#36739's family: what a group remembers of its beginning",
      .mechanism = "the end of a group pushes onto the counts of its beginning and forgets what was lent meanwhile",
      .caught_by = {Invariant::avail_exact, Invariant::free_list_clean, Invariant::avail_le_size,
                    Invariant::group_drains, Invariant::ring_pool_idle, Invariant::sentinel_untouched,
                    Invariant::no_double_lend, Invariant::conservation},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
