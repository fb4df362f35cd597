// One block of a launch, as a kernel's body sees it. A body is written once:
//
//   block.each([&](int t) { ... });   // every thread of the block, then a barrier
//
// On a device `each` is the thread itself and __syncthreads(); on the host it is a loop over the threads in an order
// that is drawn anew each time, so that a body which depends on the order of threads within a step shows it. What a
// thread keeps from one step to the next lives in the body's `Shared`.
#pragma once

#include <cstdint>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

#if defined(__CUDACC__)
class DeviceBlock {
 public:
  // Callable on both sides for the compiler's sake; bodies run it on the device alone.
  POOLPROOF_HD static std::int64_t index() {
#if defined(__CUDA_ARCH__)
    return blockIdx.x;
#else
    return 0;
#endif
  }
  POOLPROOF_HD static std::int64_t count() {
#if defined(__CUDA_ARCH__)
    return gridDim.x;
#else
    return 0;
#endif
  }
  template <typename Step>
  POOLPROOF_HD static void each(const Step& step) {
#if defined(__CUDA_ARCH__)
    step(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    (void)step;
#endif
  }
};
#endif

/// Draws the orders: SplitMix64, whose constants are those of Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators" (OOPSLA 2014).
class OrderStream {
 public:
  explicit OrderStream(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

class HostBlock {
 public:
  /// `threads` is a power of two.
  HostBlock(std::int64_t index, std::int64_t count, int threads, OrderStream& orders)
      : index_(index), count_(count), threads_(static_cast<std::uint32_t>(threads)), orders_(orders) {}

  [[nodiscard]] std::int64_t index() const { return index_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  template <typename Step>
  void each(const Step& step) {
    // i -> stride * i + first is a permutation of the threads, as the stride is odd.
    const std::uint64_t drawn = orders_.next();
    const auto stride = static_cast<std::uint32_t>(drawn) | 1U;
    const auto first = static_cast<std::uint32_t>(drawn >> 32U);
    for (std::uint32_t i = 0; i < threads_; ++i) {
      step(static_cast<int>((stride * i + first) & (threads_ - 1)));
    }
  }

 private:
  std::int64_t index_;
  std::int64_t count_;
  std::uint32_t threads_;
  OrderStream& orders_;
};

}  // namespace poolproof::kernels
