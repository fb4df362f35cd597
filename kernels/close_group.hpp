// free_group_end: what both pools deferred goes back, each page once, SWA and full side in one launch.
#pragma once

#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/marks.hpp"

namespace poolproof::kernels {

struct CloseGroupKernel {
  static constexpr std::string_view name = "close_group";
  static constexpr int threads = 1024;

  PoolsView pools;
  Target target = Target::free;

  struct Shared {
    MarkRange full;
    MarkRange swa;
    CollectShared<threads> collected;
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    mark_deferred(block, pools.full, shared.full);
    mark_deferred(block, pools.swa, shared.swa);
    if (is_last_block(block, pools.ticket, shared.last_block)) {
      drain(block, pools.swa, shared);
      drain(block, pools.full, shared);
    }
  }

  template <typename Block>
  static POOLPROOF_HD void mark_deferred(Block& block, const PoolView& pool, MarkRange& range) {
    const std::int64_t count = *pool.deferred.count;
    begin_marking(block, range);
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < count; i += block.count() * threads) {
        mark(pool.marks, range, pool.deferred.pages[i]);
      }
    });
    end_marking(block, pool.marks, range);
  }

  template <typename Block>
  POOLPROOF_HD void drain(Block& block, const PoolView& pool, Shared& shared) const {
    collect_onto(block, pool.marks, target_of(pool, target), shared.collected);
    block.each([&](int t) {
      if (t == 0) {
        *pool.deferred.count = 0;
      }
    });
  }
};

}  // namespace poolproof::kernels
