// Frees run on a stream of their own, and nothing makes the next call wait for them: it sees the pools before the free.
// Needs: any pool. Expected first: AVAIL_EXACT; MAPPING_CLEARED where peers are looked up at once.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class MissingStreamWait final : public MutatedPools<MissingStreamWait> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) override { aside(kernel, blocks); }
  void launch_free_segments(const kernels::FreeSegmentsKernel& kernel, std::int64_t blocks) override {
    aside(kernel, blocks);
  }
  void launch_detach(const kernels::DetachKernel& kernel, std::int64_t blocks) override { aside(kernel, blocks); }

 private:
  template <typename Kernel>
  void aside(const Kernel& kernel, std::int64_t blocks) {
    // Some other work is in that stream; without it the free would come in time by luck.
    constexpr std::int64_t a_tenth_of_a_millisecond_cycles = 200'000;
    device().launch_aside(kernels::launch_of(kernels::DelayKernel{a_tenth_of_a_millisecond_cycles}, 1));
    device().launch_aside(kernels::launch_of(kernel, blocks));
  }
};

}  // namespace

DeviceMutant missing_stream_wait() {
  return device_mutant<MissingStreamWait>({
      .name = "missing-stream-wait",
      .source = "an allocator's work on another stream without an event between",
      .mechanism = "frees run on a second stream, and the calls after them do not wait",
      .caught_by = {Invariant::avail_exact, Invariant::mapping_cleared, Invariant::group_ownership,
                    Invariant::conservation, Invariant::group_drains, Invariant::served_when_fits,
                    Invariant::free_list_clean, Invariant::sentinel_untouched},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
