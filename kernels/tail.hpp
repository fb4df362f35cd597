// alloc_extend_swa_tail: full locs for one request's whole extend, SWA peers for its tail alone.
#pragma once

#include <string_view>

#include "kernels/lend.hpp"

namespace poolproof::kernels {

struct TailKernel {
  static constexpr std::string_view name = "tail";
  static constexpr int threads = 256;
  static constexpr Tokens tile = 2048;

  PoolsView pools;
  Tokens prefix = 0;
  Tokens tokens = 0;  ///< new ones
  Loc last = -1;
  Tokens tail_begin = 0;  ///< of the new tokens, from 0
  Tokens tail_end = 0;
  Demand demand;
  Loc* out = nullptr;

  struct Shared {
    FreeCounts counts;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    block.each([&](int t) {
      if (t == 0) {
        shared.counts = read_counts(pools, true);
      }
    });
    const Placement full{last, rest_of_page(pools, prefix), 0};
    const Placement swa{-1, 0, 0};
    const Tokens first = block.index() * tile;
    write_and_settle(block, pools, shared.counts, demand, [&](int t) {
      for (Tokens nth = first + t; nth < least(tokens, first + tile); nth += threads) {
        const Loc loc = full.loc(pools, pools.full.free, shared.counts.full, nth);
        out[nth] = loc;
        const bool in_tail = nth >= tail_begin && nth < tail_end;
        // A recycled page may still name the peers of a former owner, so that 0 is written, not left.
        pools.mapping[loc] = in_tail ? swa.loc(pools, pools.swa.free, shared.counts.swa, nth - tail_begin) : 0;
      }
    });
  }
};

}  // namespace poolproof::kernels
