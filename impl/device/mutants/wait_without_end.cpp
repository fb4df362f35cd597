// Decode of several requests waits for a flag that nobody raises, and the kernel never ends. Needs: a GPU, and a
// process to kill, which frees the GPU. Reported as HUNG.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class WaitWithoutEnd final : public MutatedPools<WaitWithoutEnd> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_decode(const kernels::DecodeKernel& kernel, std::int64_t blocks) override {
    if (kernel.batch.requests > 1) {
      device().run(kernels::EndlessWaitKernel{kernel.pools.ticket}, 1);
    }
    device().run(kernel, blocks);
  }
};

}  // namespace

DeviceMutant wait_without_end() {
  return fatal_device_mutant<WaitWithoutEnd>(
      {
          .name = "wait-without-end",
          .source = "a block that waits for another one, which does not run: the textbook deadlock of a grid",
          .mechanism = "decode of several requests waits for a flag that nobody raises: HUNG",
          .caught_by = {},
          .supports = any_geometry,
      },
      BreakdownKind::hung);
}

}  // namespace poolproof
