// alloc_extend, alloc and the like: the locs of both pools and the mapping of a whole batch in one launch.
//
// A block writes one tile of one request's new tokens. To find it, each block sums up the batch: tiles, tokens, and new
// pages of all requests. Nothing goes from block to block, so there is no second launch.
#pragma once

#include <string_view>

#include "kernels/batch.hpp"
#include "kernels/block_scan.hpp"
#include "kernels/lend.hpp"

namespace poolproof::kernels {

/// What a run of requests adds up to.
struct BatchSum {
  std::int64_t tiles = 0;
  std::int64_t tokens = 0;
  std::int64_t pages = 0;
  POOLPROOF_HD BatchSum& operator+=(const BatchSum& more) {
    tiles += more.tiles;
    tokens += more.tokens;
    pages += more.pages;
    return *this;
  }
};

/// `Early`: a planted fault, the first block settles the counts and not the last.
template <bool Early>
struct BasicExtendKernel {
  static constexpr std::string_view name = Early ? "extend (early)" : "extend";
  static constexpr int threads = 256;
  static constexpr Tokens tile = 2048;  ///< tokens a block writes

  PoolsView pools;
  BatchView batch;
  Demand demand;        ///< swa_pages is not looked at unless `paired`
  bool paired = false;  ///< lend from the SWA pool as well, and pair
  Loc* out = nullptr;

  /// Blocks that a request of so many new tokens takes.
  static POOLPROOF_HD std::int64_t tiles_of(Tokens tokens) { return parts_of(tokens, tile); }

  struct Shared {
    ScanShared<BatchSum, threads> sums;
    std::int64_t request;
    BatchSum before;  ///< what lies before that request
    FreeCounts counts;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    find_request(block, shared);
    const Tile own = tile_of(block, shared);
    if constexpr (Early) {
      block.each([&](int t) { write_tile(own, shared, t); });
      settle_early(block, shared);
    } else {
      write_and_settle(block, pools, shared.counts, demand, [&](int t) { write_tile(own, shared, t); });
    }
  }

  [[nodiscard]] POOLPROOF_HD BatchSum sum_of(std::int64_t request) const {
    const Tokens prefix = batch.prefix(request);
    const Tokens seq = batch.seq(request);
    BatchSum sum;
    sum.tokens = seq - prefix;
    sum.tiles = tiles_of(sum.tokens);
    sum.pages = pools.pages_of(seq) - pools.pages_of(prefix);
    return sum;
  }

  /// Each thread takes a run of requests; the one whose run holds this block's tile walks it.
  template <typename Block>
  POOLPROOF_HD void find_request(Block& block, Shared& shared) const {
    const std::int64_t run = parts_of(batch.requests, threads);
    block.each([&](int t) {
      BatchSum sum;
      const std::int64_t end = least(batch.requests, (t + 1) * run);
      for (std::int64_t r = t * run; r < end; ++r) {
        sum += sum_of(r);
      }
      shared.sums.value[t] = sum;
      if (t == 0) {
        shared.counts = read_counts(pools, paired);
      }
    });
    scan(block, shared.sums);
    block.each([&](int t) {
      BatchSum before = sum_before(shared.sums, t);
      if (block.index() < before.tiles || block.index() >= before.tiles + shared.sums.value[t].tiles) {
        return;
      }
      std::int64_t request = t * run;
      for (BatchSum own = sum_of(request); block.index() >= before.tiles + own.tiles; own = sum_of(request)) {
        before += own;
        ++request;
      }
      shared.request = request;
      shared.before = before;
    });
  }

  template <typename Block>
  POOLPROOF_HD void settle_early(Block& block, const Shared& shared) const {
    block.each([&](int t) {
      if (block.index() == 0 && t == 0) {
        take_from(pools, shared.counts, demand);
      }
    });
  }

  /// What a block writes: new tokens first..end-1 of its request.
  struct Tile {
    Tokens first;
    Tokens end;
    Placement full;
    Placement swa;
  };

  template <typename Block>
  [[nodiscard]] POOLPROOF_HD Tile tile_of(Block& block, const Shared& shared) const {
    const Tokens prefix = batch.prefix(shared.request);
    const Tokens tokens = batch.seq(shared.request) - prefix;
    const Tokens first = (block.index() - shared.before.tiles) * tile;
    Tile own{first, least(tokens, first + tile), {}, {}};
    own.full = {batch.last(shared.request), rest_of_page(pools, prefix), shared.before.pages};
    own.swa = own.full;
    if (paired && own.full.rest > 0) {
      own.swa.last = pools.peer_of(own.full.last);
    }
    return own;
  }

  POOLPROOF_HD void write_tile(const Tile& own, const Shared& shared, int t) const {
    constexpr int tokens_a_thread = tile / threads;
    for (int k = 0; k < tokens_a_thread; ++k) {
      const Tokens nth = own.first + t + k * threads;
      if (nth < own.end) {
        const Loc loc = own.full.loc(pools, pools.full.free, shared.counts.full, nth);
        out[shared.before.tokens + nth] = loc;
        if (paired) {
          pools.mapping[loc] = own.swa.loc(pools, pools.swa.free, shared.counts.swa, nth);
        }
      }
    }
  }
};

using ExtendKernel = BasicExtendKernel<false>;

}  // namespace poolproof::kernels
