// Planted: a page is pushed by the thread that marks it first, at a place that an atomic counter gives. Each page once,
// and in the order in which threads arrive.
#pragma once

#include <string_view>

#include "kernels/free_set.hpp"

namespace poolproof::kernels {

struct FreeSetByArrivalKernel {
  static constexpr std::string_view name = "free_set (by arrival)";
  static constexpr int threads = 1024;

  FreeSetKernel right;  ///< `pools.touched_count` is 0 before

  struct Shared {
    CollectShared<threads> collected;
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    const PoolsView& pools = right.pools;
    const Stack& stack = target_of(pools.full, right.target);
    const std::int64_t count = *stack.count;
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < right.loc_count; i += block.count() * threads) {
        const std::int64_t page = pools.page_of(right.locs[i]);
        if (!claim_bit(pools.full.marks.words, page)) {
          atomic_min(pools.full.marks.first_word, page >> 5);
          atomic_max(pools.full.marks.last_word, page >> 5);
          const std::int64_t nth = atomic_add(pools.touched_count, 1);
          pools.touched[nth] = static_cast<Page>(page);
          if (right.give_full && count + nth < stack.capacity) {
            stack.pages[count + nth] = static_cast<Page>(page);
          }
        }
      }
    });
    if (is_last_block(block, pools.ticket, shared.last_block)) {
      const std::int64_t found =
          collect(block, pools.full.marks, shared.collected, [](std::int64_t, Page, std::int64_t) {});
      block.each([&](int t) {
        if (t == 0 && right.give_full) {
          *stack.count = pushed_count(stack, count, found);
        }
      });
    }
  }
};

}  // namespace poolproof::kernels
