// The first block settles the counts of an extend, not the last to finish: blocks that read them later lend other
// pages. Needs: two blocks, one request each, in an order that a GPU next to never takes; the host grid does. Expected
// first: PAGE_LAYOUT, NO_DOUBLE_LEND, SENTINEL_UNTOUCHED, MAPPING_TOTAL.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class CountsSettledEarly final : public MutatedPools<CountsSettledEarly> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_extend(const kernels::ExtendKernel& kernel, std::int64_t blocks) override {
    kernels::BasicExtendKernel<true> faulty;
    faulty.pools = kernel.pools;
    faulty.batch = kernel.batch;
    faulty.demand = kernel.demand;
    faulty.paired = kernel.paired;
    faulty.out = kernel.out;
    device().run(faulty, blocks);
  }
};

}  // namespace

DeviceMutant counts_settled_early() {
  return device_mutant<CountsSettledEarly>(
      {
          .name = "counts-settled-early",
          .source = "a count changed while other blocks of the launch still read it",
          .mechanism = "the first block of an extend, not the last, takes the pages from the count",
          .caught_by = {Invariant::page_layout, Invariant::no_double_lend, Invariant::sentinel_untouched,
                        Invariant::free_list_clean, Invariant::mapping_total},
          .supports = any_geometry,
      },
      NeedsDevice::grid);
}

}  // namespace poolproof
