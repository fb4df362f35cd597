// The SWA half of a free: the peers of whole full pages are looked up and detached, and their pages marked.
#pragma once

#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/marks.hpp"

namespace poolproof::kernels {

/// log2 of the neighbouring slots that a thread takes, none of another page: many where many are to be detached, since
/// a flag is looked at once for all of them; one where that leaves threads without work.
inline int slots_a_thread_shift(const PoolsView& pools, std::int64_t slots) {
  constexpr std::int64_t many = std::int64_t{1} << 17;
  return slots > many ? least(pools.shift, 3) : 0;
}

/// Some slots of one full page. A peer of 0 is none: page 0 never reaches a list. In ring mode peers are nobody's
/// pages.
POOLPROOF_HD void detach_slots(const PoolsView& pools, MarkRange& range, Loc first, int count_shift) {
  std::int64_t marked = 0;
  for (Loc loc = first; loc < first + (Loc{1} << count_shift); ++loc) {
    const Loc peer = pools.mapping[loc];
    if (peer == 0) {
      continue;
    }
    pools.mapping[loc] = 0;
    const std::int64_t page = pools.page_of(peer);
    if (!pools.ringed && page != marked) {
      mark(pools.swa.marks, range, page, count_shift > 0);
      marked = page;
    }
  }
}

/// Those of a set-shaped free, after FreeSetKernel has collected its full pages.
struct DetachKernel {
  static constexpr std::string_view name = "detach";
  static constexpr int threads = 512;

  PoolsView pools;
  Target target = Target::free;
  int own = 0;  ///< slots_a_thread_shift()

  struct Shared {
    MarkRange range;
    CollectShared<threads> collected;
    bool last_block;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    const int threads_a_page_shift = pools.shift - own;
    const std::int64_t parts = *pools.touched_count << threads_a_page_shift;
    begin_marking(block, shared.range);
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < parts; i += block.count() * threads) {
        const std::int64_t part = i & ((std::int64_t{1} << threads_a_page_shift) - 1);
        detach_slots(pools, shared.range, pools.first_loc(pools.touched[i >> threads_a_page_shift]) + (part << own),
                     own);
      }
    });
    end_marking(block, pools.swa.marks, shared.range);
    if (is_last_block(block, pools.ticket, shared.last_block) && !pools.ringed) {
      collect_onto(block, pools.swa.marks, target_of(pools.swa, target), shared.collected);
    }
  }
};

}  // namespace poolproof::kernels
