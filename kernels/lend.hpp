// What the lending kernels share: where the tokens of a request go, and how the counts of the lists are settled.
//
// A block reads the counts once and says so by a ticket; whoever says so last knows that all have read them, and
// changes them while the locs are still being written. So nothing waits for the writes, and no block comes after
// another.
#pragma once

#include "kernels/pools.hpp"

namespace poolproof::kernels {

/// The loc of one request's `nth` new token: first the rest of the page that holds its last loc, then new pages.
struct Placement {
  Loc last = -1;                  ///< of the request, in this pool
  Tokens rest = 0;                ///< tokens that still fit the last page
  std::int64_t pages_before = 0;  ///< new pages of the requests before it

  [[nodiscard]] POOLPROOF_HD Loc loc(const PoolsView& pools, const Stack& stack, std::int64_t count, Tokens nth) const {
    if (nth < rest) {
      return last + 1 + nth;
    }
    const Tokens in_new = nth - rest;
    return pools.first_loc(page_at(stack, count, pages_before + (in_new >> pools.shift))) +
           (in_new & (pools.page() - 1));
  }
};

/// Tokens that still fit the page in which position `prefix` lies, 0 at its border.
POOLPROOF_HD Tokens rest_of_page(const PoolsView& pools, Tokens prefix) { return -prefix & (pools.page() - 1); }

/// How many pages a launch takes from each pool.
struct Demand {
  std::int64_t full_pages = 0;
  std::int64_t swa_pages = 0;
};

/// Pages in the free lists before a launch, in shared memory.
struct FreeCounts {
  std::int64_t full;
  std::int64_t swa;  ///< 0 where nothing is lent from it
};

/// By one thread of each block.
POOLPROOF_HD FreeCounts read_counts(const PoolsView& pools, bool paired) {
  return {*pools.full.free.count, paired ? *pools.swa.free.count : 0};
}

/// By one thread of each block, a step or more after read_counts(); answers what settle_counts() takes.
POOLPROOF_HD std::uint32_t say_counts_are_read(const PoolsView& pools) {
  fence();
  return atomic_add(pools.ticket, 1);
}

POOLPROOF_HD void take_from(const PoolsView& pools, const FreeCounts& counts, const Demand& demand) {
  *pools.full.free.count = counts.full - demand.full_pages;
  if (demand.swa_pages > 0) {
    *pools.swa.free.count = counts.swa - demand.swa_pages;
  }
}

/// By the thread that said so.
POOLPROOF_HD void settle_counts(const PoolsView& pools, const FreeCounts& counts, const Demand& demand,
                                std::uint32_t said_before, std::int64_t blocks) {
  if (said_before + 1 == static_cast<std::uint32_t>(blocks)) {
    fence();
    *pools.ticket = 0;
    take_from(pools, counts, demand);
  }
}

/// The step that writes locs: `write(t)` by every thread, and the counts are settled.
template <typename Block, typename Write>
POOLPROOF_HD void write_and_settle(Block& block, const PoolsView& pools, const FreeCounts& counts, const Demand& demand,
                                   const Write& write) {
  block.each([&](int t) {
    const std::uint32_t said_before = t == 0 ? say_counts_are_read(pools) : 0;
    write(t);
    if (t == 0) {
      settle_counts(pools, counts, demand, said_before, block.count());
    }
  });
}

}  // namespace poolproof::kernels
