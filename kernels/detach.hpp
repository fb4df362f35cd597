// The SWA half of a free: the peers of whole full pages are looked up and detached, and their pages marked.
#pragma once

#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/marks.hpp"

namespace poolproof::kernels {

/// One slot of a full page. A peer of 0 is none: page 0 never reaches a list. In ring mode peers are nobody's pages.
POOLPROOF_HD void detach_slot(const PoolsView& pools, MarkRange& range, Loc loc) {
  const Loc peer = pools.mapping[loc];
  if (peer == 0) {
    return;
  }
  pools.mapping[loc] = 0;
  if (!pools.ringed) {
    mark(pools.swa.marks, range, pools.page_of(peer));
  }
}

/// Those of a set-shaped free, after FreeSetKernel has collected its full pages.
struct DetachKernel {
  static constexpr std::string_view name = "detach";
  static constexpr int threads = 512;

  PoolsView pools;
  Target target = Target::free;

  struct Shared {
    MarkRange range;
    CollectShared<threads> collected;
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    const std::int64_t slots = *pools.touched_count << pools.shift;
    begin_marking(block, shared.range);
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < slots; i += block.count() * threads) {
        detach_slot(pools, shared.range, pools.first_loc(pools.touched[i >> pools.shift]) + (i & (pools.page() - 1)));
      }
    });
    end_marking(block, pools.swa.marks, shared.range);
    if (is_last_block(block, pools.ticket, shared.last_block) && !pools.ringed) {
      collect_onto(block, pools.swa.marks, target_of(pools.swa, target), shared.collected);
    }
  }
};

}  // namespace poolproof::kernels
