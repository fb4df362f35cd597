// Planted: the end of a group pushes onto the counts of its beginning. What was lent meanwhile is forgotten.
#pragma once

#include <string_view>

#include "kernels/close_group.hpp"

namespace poolproof::kernels {

struct CloseGroupStaleKernel {
  static constexpr std::string_view name = "close_group (stale)";
  static constexpr int threads = CloseGroupKernel::threads;

  CloseGroupKernel right;
  std::int64_t full_count = 0;
  std::int64_t swa_count = 0;

  using Shared = CloseGroupKernel::Shared;

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    block.each([&](int t) {
      if (block.index() == 0 && t == 0) {
        *target_of(right.pools.full, right.target).count = full_count;
        *target_of(right.pools.swa, right.target).count = swa_count;
      }
    });
    right(block, shared);
  }
};

}  // namespace poolproof::kernels
