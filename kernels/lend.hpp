// What the lending kernels share: where the tokens of a request go, and how the last block settles the counts.
#pragma once

#include "kernels/last_block.hpp"
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

POOLPROOF_HD void take_from(const PoolsView& pools, const Demand& demand) {
  *pools.full.free.count -= demand.full_pages;
  if (demand.swa_pages > 0) {
    *pools.swa.free.count -= demand.swa_pages;
  }
}

/// Every thread calls it, at the end.
template <typename Block>
POOLPROOF_HD void settle_lending(Block& block, const PoolsView& pools, const Demand& demand, bool& shared_flag) {
  if (is_last_block(block, pools.ticket, shared_flag)) {
    block.each([&](int t) {
      if (t == 0) {
        take_from(pools, demand);
      }
    });
  }
}

}  // namespace poolproof::kernels
