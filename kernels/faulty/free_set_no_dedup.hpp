// Planted: a set-shaped free without deduplication. Each loc pushes its page.
#pragma once

#include <string_view>

#include "kernels/free_set.hpp"

namespace poolproof::kernels {

struct FreeSetNoDedupKernel {
  static constexpr std::string_view name = "free_set (no dedup)";
  static constexpr int threads = 1024;

  FreeSetKernel right;  ///< `pools.touched_count` is 0 before

  struct Shared {
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    const PoolsView& pools = right.pools;
    const Stack& stack = target_of(pools.full, right.target);
    const std::int64_t count = *stack.count;
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < right.loc_count; i += block.count() * threads) {
        const auto page = static_cast<Page>(pools.page_of(right.locs[i]));
        const std::int64_t nth = atomic_add(pools.touched_count, 1);
        if (nth < pools.touched_capacity) {
          pools.touched[nth] = page;
        }
        if (right.give_full && count + nth < stack.capacity) {
          stack.pages[count + nth] = page;
        }
      }
    });
    if (is_last_block(block, pools.ticket, shared.last_block)) {
      block.each([&](int t) {
        if (t == 0) {
          const std::int64_t found = load_fresh(pools.touched_count);
          if (right.give_full) {
            *stack.count = pushed_count(stack, count, found);
          }
          *pools.touched_count = least(found, pools.touched_capacity);
        }
      });
    }
  }
};

}  // namespace poolproof::kernels
