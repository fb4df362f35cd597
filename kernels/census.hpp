// The census on the device: every whole-pool invariant that lists and mapping show by themselves, one small verdict
// back.
//
// Two launches: the lists are marked in bitmaps, a bit a page; then each entry of the mapping is looked at once, beside
// the bitmaps, and its SWA loc is marked, a bit a token. A bit that is up already is a page in two places, or a peer of
// two locs.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/pools.hpp"

namespace poolproof::kernels {

/// What a census counts. All zero but for the tallies: nothing is wrong.
struct CensusCounts {
  std::int64_t outside = 0;        ///< list entries that are no page of the pool, page 0 apart
  std::int64_t padding = 0;        ///< page 0 in a list
  std::int64_t repeated = 0;       ///< list entries that stand in a list already
  std::int64_t peer_outside = 0;   ///< mapping entries that are no loc of the SWA pool
  std::int64_t peer_repeated = 0;  ///< SWA locs that a second full loc names
  std::int64_t peer_idle = 0;      ///< mapping entries whose SWA page lies in a list
  std::int64_t idle_mapped = 0;    ///< mapping entries of full pages that lie in a list
  std::int64_t tail_wrong = 0;     ///< 1: the last entry is not -1

  std::int64_t full_listed = 0;  ///< tally: pages in the lists
  std::int64_t swa_listed = 0;
  std::int64_t mapped = 0;  ///< tally: full locs with a peer
};

/// Bitmaps, all zero before.
struct CensusScratch {
  std::uint32_t* full_pages = nullptr;
  std::uint32_t* swa_pages = nullptr;
  std::uint32_t* swa_tokens = nullptr;
};

struct CensusListsKernel {
  static constexpr std::string_view name = "census_lists";
  static constexpr int threads = 256;

  PoolsView pools;
  CensusScratch scratch;
  std::int64_t full_page_count = 0;
  std::int64_t swa_page_count = 0;
  CensusCounts* counts = nullptr;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    scan_pool(block, pools.full, scratch.full_pages, full_page_count, &counts->full_listed);
    scan_pool(block, pools.swa, scratch.swa_pages, swa_page_count, &counts->swa_listed);
  }

  template <typename Block>
  POOLPROOF_HD void scan_pool(Block& block, const PoolView& pool, std::uint32_t* words, std::int64_t page_count,
                              std::int64_t* tally) const {
    if (words == nullptr) {
      return;
    }
    scan_list(block, pool.free, words, page_count, tally);
    scan_list(block, pool.staged, words, page_count, tally);
    scan_list(block, pool.deferred, words, page_count, tally);
  }

  template <typename Block>
  POOLPROOF_HD void scan_list(Block& block, const Stack& list, std::uint32_t* words, std::int64_t page_count,
                              std::int64_t* tally) const {
    const std::int64_t count = *list.count;
    block.each([&](int t) {
      if (block.index() == 0 && t == 0 && count > 0) {
        atomic_add(tally, count);
      }
      for (std::int64_t i = block.index() * threads + t; i < count; i += block.count() * threads) {
        const Page page = list.pages[i];
        if (page == 0) {
          atomic_add(&counts->padding, 1);
        } else if (page < 0 || page > page_count) {
          atomic_add(&counts->outside, 1);
        } else if (claim_bit(words, page)) {
          atomic_add(&counts->repeated, 1);
        }
      }
    });
  }
};

struct CensusMappingKernel {
  static constexpr std::string_view name = "census_mapping";
  static constexpr int threads = 256;
  static constexpr int run_shift = 3;
  static constexpr std::int64_t run = 1 << run_shift;  ///< neighbouring entries a thread: mostly of one page

  PoolsView pools;
  CensusScratch scratch;
  Tokens swa_tokens = 0;  ///< SWA locs 1..swa_tokens+page-1; 0: a ring, whose entries are no locs of the pool
  CensusCounts* counts = nullptr;

  struct Shared {
    std::uint32_t mapped;  ///< in 32 bits: of 64, shared memory has no addition
  };

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    block.each([&](int t) {
      if (t == 0) {
        shared.mapped = 0;
      }
    });
    block.each([&](int t) {
      std::uint32_t mapped = 0;
      const std::int64_t entries = pools.mapping_length - 1;
      for (std::int64_t i = (block.index() * threads + t) * run; i < entries; i += block.count() * threads * run) {
        mapped += look_at_run(i, least(entries, i + run));
      }
      if (mapped > 0) {
        atomic_add(&shared.mapped, mapped);
      }
      if (block.index() == 0 && t == 0 && pools.mapping[entries] != -1) {
        counts->tail_wrong = 1;
      }
    });
    block.each([&](int t) {
      if (t == 0 && shared.mapped > 0) {
        atomic_add(&counts->mapped, shared.mapped);
      }
    });
  }

  /// Entries begin..end-1; answers how many have a peer.
  POOLPROOF_HD std::uint32_t look_at_run(Loc begin, Loc end) const {
    Loc peers[run];
    for (std::int64_t k = 0; k < run; k += 2) {
      if (begin + k + 1 < end) {
        load_pair(pools.mapping + begin + k, peers[k], peers[k + 1]);
      } else {
        peers[k] = begin + k < end ? pools.mapping[begin + k] : 0;
        peers[k + 1] = 0;
      }
    }
    return in_line(peers) ? look_at_line(begin, peers[0]) : look_at_each(begin, peers);
  }

  /// Are they neighbours in the SWA pool too, within one page of each pool and one word of bits? Mostly so.
  [[nodiscard]] POOLPROOF_HD bool in_line(const Loc (&peers)[run]) const {
    Loc off = peers[0] & (run - 1);
    for (std::int64_t k = 1; k < run; ++k) {
      off |= peers[k] ^ (peers[0] + k);
    }
    return off == 0 && pools.shift >= run_shift && is_swa_loc(peers[0]);
  }

  /// False in ring mode.
  [[nodiscard]] POOLPROOF_HD bool is_swa_loc(Loc peer) const {
    return swa_tokens != 0 && peer >= pools.page() && peer < swa_tokens + pools.page();
  }

  /// All of the run at once.
  [[nodiscard]] POOLPROOF_HD std::uint32_t look_at_line(Loc loc, Loc peer) const {
    if (has_settled_bit(scratch.full_pages, pools.page_of(loc))) {
      atomic_add(&counts->idle_mapped, run);
    }
    if (has_settled_bit(scratch.swa_pages, pools.page_of(peer))) {
      atomic_add(&counts->peer_idle, run);
    }
    constexpr std::uint32_t line = (std::uint32_t{1} << run) - 1;
    claim(peer >> 5, line << (static_cast<std::uint32_t>(peer) & 31U));
    return run;
  }

  /// What a run knows from the entry before.
  struct Seen {
    std::int64_t full_page = -1;
    std::int64_t swa_page = -1;
    bool full_idle = false;
    bool swa_idle = false;
    std::int64_t word = -1;  ///< of the token bitmap
    std::uint32_t bits = 0;  ///< to be set in it
  };

  [[nodiscard]] POOLPROOF_HD std::uint32_t look_at_each(Loc begin, const Loc (&peers)[run]) const {
    Seen seen;
    std::uint32_t mapped = 0;
    for (std::int64_t k = 0; k < run; ++k) {
      if (peers[k] != 0) {
        ++mapped;
        look_at(begin + k, peers[k], seen);
      }
    }
    flush(seen);
    return mapped;
  }

  POOLPROOF_HD void look_at(Loc loc, Loc peer, Seen& seen) const {
    if (pools.page_of(loc) != seen.full_page) {
      seen.full_page = pools.page_of(loc);
      seen.full_idle = has_settled_bit(scratch.full_pages, seen.full_page);
    }
    if (seen.full_idle) {
      atomic_add(&counts->idle_mapped, 1);
    }
    if (swa_tokens == 0) {
      return;
    }
    if (!is_swa_loc(peer)) {
      atomic_add(&counts->peer_outside, 1);
      return;
    }
    if (pools.page_of(peer) != seen.swa_page) {
      seen.swa_page = pools.page_of(peer);
      seen.swa_idle = has_settled_bit(scratch.swa_pages, seen.swa_page);
    }
    if (seen.swa_idle) {
      atomic_add(&counts->peer_idle, 1);
    }
    const std::uint32_t bit = std::uint32_t{1} << (static_cast<std::uint32_t>(peer) & 31U);
    if ((peer >> 5) != seen.word || (seen.bits & bit) != 0) {
      flush(seen);
      seen.word = peer >> 5;
    }
    seen.bits |= bit;
  }

  POOLPROOF_HD void flush(Seen& seen) const {
    if (seen.bits != 0) {
      claim(seen.word, seen.bits);
    }
    seen.bits = 0;
  }

  POOLPROOF_HD void claim(std::int64_t word, std::uint32_t bits) const {
    const int repeated = claim_bits(scratch.swa_tokens, word, bits);
    if (repeated > 0) {
      atomic_add(&counts->peer_repeated, repeated);
    }
  }
};

}  // namespace poolproof::kernels
