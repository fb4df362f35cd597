// Planted: a wait for a flag that nobody raises, as of a block for one that will never run. On the host grid it ends at
// once, since there it would hold up this very process.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

struct EndlessWaitKernel {
  static constexpr std::string_view name = "wait without end";
  static constexpr int threads = 32;

  const std::uint32_t* flag = nullptr;  ///< stays 0

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int) {
#if defined(__CUDA_ARCH__)
      const volatile std::uint32_t* raised = flag;
      while (*raised == 0) {
        __nanosleep(1000);
      }
#endif
    });
  }
};

}  // namespace poolproof::kernels
