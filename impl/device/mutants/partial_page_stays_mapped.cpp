// A segment-shaped free detaches the peers of whole pages alone: the page in which the segment ends goes back on the
// full side, and its entries still name SWA slots. Needs: a mapping, pages of more than one token. Expected first:
// MAPPING_CLEARED.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class PartialPageStaysMapped final : public MutatedPools<PartialPageStaysMapped> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_segments(const kernels::FreeSegmentsKernel& kernel, std::int64_t blocks) override {
    kernels::BasicFreeSegmentsKernel<false> faulty;
    faulty.pools = kernel.pools;
    for (std::int64_t i = 0; i < kernel.segment_count; ++i) {
      faulty.segments[i] = kernel.segments[i];
    }
    faulty.segment_count = kernel.segment_count;
    faulty.pages = kernel.pages;
    faulty.give_full = kernel.give_full;
    faulty.give_swa = kernel.give_swa;
    faulty.collect_swa = kernel.collect_swa;
    faulty.target = kernel.target;
    faulty.own = kernel.own;
    device().run(faulty, blocks);
  }
};

}  // namespace

DeviceMutant partial_page_stays_mapped() {
  return device_mutant<PartialPageStaysMapped>({
      .name = "partial-page-stays-mapped",
      .source = "sgl-project/sglang#37729's border, in a kernel whose grid rounds down",
      .mechanism = "a segment free clears the mapping of whole pages alone and misses the last, partial one",
      .caught_by = {Invariant::mapping_cleared, Invariant::group_ownership},
      .supports = [](const Geometry& g) { return paired_wide_pages(g); },
  });
}

}  // namespace poolproof
