// Planted: a write far behind every allocation, as of an index that nobody bounds. The GPU ends the whole context over
// it: an illegal address. On the host grid it does nothing, since there it would end this very process.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/pools.hpp"

namespace poolproof::kernels {

struct PastMemoryKernel {
  static constexpr std::string_view name = "write past memory";
  static constexpr int threads = 32;
  static constexpr std::int64_t far_pages = std::int64_t{1} << 42;  ///< 16 TiB on: no card has so much

  Stack list;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
#if defined(__CUDA_ARCH__)
      list.pages[far_pages + t] = 1;
#else
      (void)t;
#endif
    });
  }
};

}  // namespace poolproof::kernels
