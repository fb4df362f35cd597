// The set-shaped frees: any loc of a page names the page, and a page that is named often counts once.
#pragma once

#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/marks.hpp"

namespace poolproof::kernels {

/// How a page is marked.
struct AtomicMarking {
  static constexpr std::string_view name = "free_set";
  static POOLPROOF_HD void mark_page(const Marks& marks, MarkRange& range, std::int64_t page) {
    mark(marks, range, page);
  }
};

/// Marks the pages of all locs; the last block lists them and, where the full side is given back, pushes them.
template <typename Marking>
struct BasicFreeSetKernel {
  static constexpr std::string_view name = Marking::name;
  static constexpr int threads = 1024;

  PoolsView pools;
  const Loc* locs = nullptr;
  std::int64_t loc_count = 0;
  bool give_full = false;
  Target target = Target::free;

  struct Shared {
    MarkRange range;
    CollectShared<threads> collected;
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    begin_marking(block, shared.range);
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < loc_count; i += block.count() * threads) {
        const std::int64_t page = pools.page_of(locs[i]);
        // Neighbours mostly share a page: the first of a run speaks for it.
        if (i == 0 || pools.page_of(locs[i - 1]) != page) {
          Marking::mark_page(pools.full.marks, shared.range, page);
        }
      }
    });
    end_marking(block, pools.full.marks, shared.range);
    if (is_last_block(block, pools.ticket, shared.last_block)) {
      settle(block, shared);
    }
  }

  template <typename Block>
  POOLPROOF_HD void settle(Block& block, Shared& shared) const {
    const Stack& stack = target_of(pools.full, target);
    const std::int64_t count = load_fresh(stack.count);
    const std::int64_t found =
        collect(block, pools.full.marks, shared.collected, [&](std::int64_t nth, Page page, std::int64_t total) {
          pools.touched[nth] = page;
          if (give_full) {
            push(stack, count, total, nth, page);
          }
        });
    block.each([&](int t) {
      if (t == 0) {
        *pools.touched_count = found;
        if (give_full) {
          *stack.count = pushed_count(stack, count, found);
        }
      }
    });
  }
};

using FreeSetKernel = BasicFreeSetKernel<AtomicMarking>;

}  // namespace poolproof::kernels
