// Decode counts the new pages of the requests before a block, and stops one request short: the last request of one
// block and the first of the next that open a page get the same. Needs: batches of more than 1,024 requests, which the
// generator makes of pools of 4,096 pages and more. Expected first: NO_DOUBLE_LEND; PAGE_LAYOUT.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class BlockBorderUncounted final : public MutatedPools<BlockBorderUncounted> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_decode(const kernels::DecodeKernel& kernel, std::int64_t blocks) override {
    kernels::BasicDecodeKernel<1> faulty;
    faulty.pools = kernel.pools;
    faulty.batch = kernel.batch;
    faulty.demand = kernel.demand;
    faulty.paired = kernel.paired;
    faulty.out = kernel.out;
    device().run(faulty, blocks);
  }
};

}  // namespace

DeviceMutant block_border_uncounted() {
  return device_mutant<BlockBorderUncounted>({
      .name = "block-border-uncounted",
      .source = "an off-by-one of two-level scans, where one block ends and the next begins",
      .mechanism = "decode leaves the last request of a block out of the count for the next: a page is lent twice",
      .caught_by = {Invariant::no_double_lend, Invariant::page_layout},
      .supports = [](const Geometry& g) { return g.full_pages() >= crowd_pages; },
  });
}

}  // namespace poolproof
