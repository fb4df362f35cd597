// A set-shaped free of several locs writes far behind every allocation, and the GPU ends the context: nothing in this
// process works on the device any more. Needs: a GPU, and a process to lose. Reported as RAISED,
// cudaErrorIllegalAddress.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class WritePastMemory final : public MutatedPools<WritePastMemory> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) override {
    device().run(kernel, blocks);
    if (kernel.loc_count > 1) {
      device().run(kernels::PastMemoryKernel{kernel.pools.full.free}, 1);
    }
  }
};

}  // namespace

DeviceMutant write_past_memory() {
  return fatal_device_mutant<WritePastMemory>(
      {
          .name = "write-past-memory",
          .source = "an index that nobody bounds: an illegal address, which spoils the process",
          .mechanism = "a free of several locs writes far behind every allocation: RAISED, cudaErrorIllegalAddress",
          .caught_by = {},
          .supports = any_geometry,
      },
      BreakdownKind::raised);
}

}  // namespace poolproof
