// A set-shaped free without deduplication: each loc pushes its page.
// Needs: pages of more than one token. Expected first: AVAIL_EXACT or AVAIL_LE_SIZE at the free, FREE_LIST_CLEAN where
// the lists are looked at.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class FreeWithoutDedup final : public MutatedPools<FreeWithoutDedup> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) override {
    device().zero(kernel.pools.touched_count, sizeof(std::int64_t));
    device().run(kernels::FreeSetNoDedupKernel{kernel}, blocks);
  }
};

}  // namespace

DeviceMutant free_without_dedup() {
  return device_mutant<FreeWithoutDedup>({
      .name = "free-without-dedup",
      .source = "a scatter of pages without deduplication",
      .mechanism = "a set-shaped free pushes the page of each loc, without deduplication on the device",
      .caught_by = {Invariant::free_list_clean, Invariant::avail_le_size, Invariant::avail_exact},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
