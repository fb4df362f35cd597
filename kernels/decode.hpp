// alloc_decode: one loc a request; those at a page border take a new page each, in batch order.
#pragma once

#include <string_view>

#include "kernels/batch.hpp"
#include "kernels/block_scan.hpp"
#include "kernels/lend.hpp"

namespace poolproof::kernels {

/// `Uncounted` requests before a block's first are left out when pages are counted: 0, or a planted fault.
template <std::int64_t Uncounted>
struct BasicDecodeKernel {
  static constexpr std::string_view name = Uncounted == 0 ? "decode" : "decode (uncounted)";
  static constexpr int threads = 1024;  ///< and requests a block

  PoolsView pools;
  BatchView batch;
  Demand demand;
  bool paired = false;
  Loc* out = nullptr;

  struct Shared {
    std::uint32_t earlier;  ///< pages that the requests of the blocks before take
    std::uint32_t opens[threads / 32];
    FreeCounts counts;
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    count_openings(block, shared);
    write_and_settle(block, pools, shared.counts, demand,
                     [&](int t) { write_loc(block.index() * threads + t, shared, t); });
  }

  [[nodiscard]] POOLPROOF_HD bool opens_page(std::int64_t request) const {
    return ((batch.seq(request) - 1) & (pools.page() - 1)) == 0;
  }

  template <typename Block>
  POOLPROOF_HD void count_openings(Block& block, Shared& shared) const {
    const std::int64_t first = block.index() * threads;
    block.each([&](int t) {
      if (t < threads / 32) {
        shared.opens[t] = 0;
      }
      if (t == 0) {
        shared.earlier = 0;
        shared.counts = read_counts(pools, paired);
      }
    });
    block.each([&](int t) {
      std::uint32_t earlier = 0;
      for (std::int64_t r = t; r < first - Uncounted; r += threads) {
        earlier += opens_page(r) ? 1U : 0U;
      }
      if (earlier > 0) {
        atomic_add(&shared.earlier, earlier);
      }
      if (first + t < batch.requests && opens_page(first + t)) {
        atomic_or(&shared.opens[t / 32], std::uint32_t{1} << (static_cast<std::uint32_t>(t) & 31U));
      }
    });
  }

  [[nodiscard]] static POOLPROOF_HD std::int64_t openings_before(const Shared& shared, int t) {
    std::int64_t before = shared.earlier;
    for (int word = 0; word < t / 32; ++word) {
      before += ones(shared.opens[word]);
    }
    return before + ones(shared.opens[t / 32] & ((std::uint32_t{1} << (static_cast<std::uint32_t>(t) & 31U)) - 1U));
  }

  POOLPROOF_HD void write_loc(std::int64_t request, const Shared& shared, int t) const {
    if (request >= batch.requests) {
      return;
    }
    const Tokens prefix = batch.seq(request) - 1;
    const Placement full{batch.last(request), rest_of_page(pools, prefix), openings_before(shared, t)};
    const Loc loc = full.loc(pools, pools.full.free, shared.counts.full, 0);
    out[request] = loc;
    if (paired) {
      Placement swa = full;
      swa.last = full.rest > 0 ? pools.peer_of(full.last) : -1;
      pools.mapping[loc] = swa.loc(pools, pools.swa.free, shared.counts.swa, 0);
    }
  }
};

using DecodeKernel = BasicDecodeKernel<0>;

}  // namespace poolproof::kernels
