// Holds a stream up for a while, as other work in it would: what nothing orders behind it then comes first.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

struct DelayKernel {
  static constexpr std::string_view name = "delay";
  static constexpr int threads = 32;

  std::int64_t cycles = 0;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int) {
#if defined(__CUDA_ARCH__)
      const std::int64_t begin = clock64();
      while (clock64() - begin < cycles) {
      }
#endif
    });
  }
};

}  // namespace poolproof::kernels
