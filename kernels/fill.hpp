// A pool as new: every page free, the lowest to be lent first.
#pragma once

#include <string_view>

#include "kernels/pools.hpp"

namespace poolproof::kernels {

struct FillFreeListKernel {
  static constexpr std::string_view name = "fill_free_list";
  static constexpr int threads = 256;

  Stack free;
  std::int64_t pages = 0;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < pages; i += block.count() * threads) {
        free.pages[i] = static_cast<Page>(pages - i);
      }
      if (block.index() == 0 && t == 0) {
        *free.count = pages;
      }
    });
  }
};

/// The mapping as new: no peers, and -1 for "no last loc".
struct FillMappingKernel {
  static constexpr std::string_view name = "fill_mapping";
  static constexpr int threads = 256;

  Loc* mapping = nullptr;
  std::int64_t length = 0;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < length; i += block.count() * threads) {
        mapping[i] = i + 1 == length ? -1 : 0;
      }
    });
  }
};

/// Does nothing: what a launch costs by itself.
struct EmptyKernel {
  static constexpr std::string_view name = "empty";
  static constexpr int threads = 32;
  struct Shared {};
  template <typename Block>
  POOLPROOF_HD void operator()(Block& /*block*/, Shared& /*shared*/) const {}
};

}  // namespace poolproof::kernels
