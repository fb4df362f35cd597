// Deduplication by page flags: mark what is touched, then read the flags in order. What comes out is ascending and each
// page once, whatever order the threads came in, so that replicas agree.
#pragma once

#include "kernels/block_scan.hpp"
#include "kernels/pools.hpp"

namespace poolproof::kernels {

/// The range of words that one block marks, kept in shared memory until it is done. In 32 bits: shared memory has no
/// minimum of 64, and threads that meet there would try it one after the other.
struct MarkRange {
  std::int32_t first;
  std::int32_t last;
};

template <typename Block>
POOLPROOF_HD void begin_marking(Block& block, MarkRange& range) {
  block.each([&](int t) {
    if (t == 0) {
      range.first = INT32_MAX;
      range.last = -1;
    }
  });
}

/// A word of the flags is in use.
POOLPROOF_HD void cover(MarkRange& range, std::int64_t flags_word) {
  const auto word = static_cast<std::int32_t>(flags_word);
  if (word < load_shared(&range.first)) {
    atomic_min(&range.first, word);
  }
  if (word > load_shared(&range.last)) {
    atomic_max(&range.last, word);
  }
}

/// One page, by any thread. Where a page is named by many threads, a flag that is up already costs a look alone; where
/// it is by few, `look` is false and saves the wait for it.
POOLPROOF_HD void mark(const Marks& marks, MarkRange& range, std::int64_t page, bool look = true) {
  if (look && has_bit(marks.words, page)) {
    return;
  }
  set_bit(marks.words, page);
  cover(range, page >> 5);
}

template <typename Block>
POOLPROOF_HD void end_marking(Block& block, const Marks& marks, const MarkRange& range) {
  block.each([&](int t) {
    if (t == 0 && range.last >= 0) {
      atomic_min(marks.first_word, std::int64_t{range.first});
      atomic_max(marks.last_word, std::int64_t{range.last});
    }
  });
}

/// Shared memory of collect().
template <int N>
struct CollectShared {
  ScanShared<std::int32_t, N> counts;
  std::int64_t first;
  std::int64_t words;
};

/// In the last block: calls `take(nth, page, total)` for each page marked, ascending, and takes the flags down. Answers
/// how many there were.
template <int N, typename Block, typename Take>
POOLPROOF_HD std::int64_t collect(Block& block, const Marks& marks, CollectShared<N>& shared, const Take& take) {
  block.each([&](int t) {
    if (t == 0) {
      shared.first = load_fresh(marks.first_word);
      shared.words = most<std::int64_t>(0, load_fresh(marks.last_word) - shared.first + 1);
    }
  });
  const std::int64_t run = parts_of(shared.words, N);
  const auto run_end = [&](int t) { return shared.first + least(shared.words, (t + 1) * run); };
  block.each([&](int t) {
    std::int32_t count = 0;
    for (std::int64_t word = shared.first + t * run; word < run_end(t); ++word) {
      count += ones(load_fresh(marks.words + word));
    }
    shared.counts.value[t] = count;
  });
  scan(block, shared.counts);
  const std::int64_t total = sum_of_all(shared.counts);
  block.each([&](int t) {
    std::int64_t nth = shared.counts.value[t] == 0 ? 0 : sum_before(shared.counts, t);
    for (std::int64_t word = shared.first + t * run; word < run_end(t); ++word) {
      std::uint32_t bits = load_fresh(marks.words + word);
      if (bits != 0) {
        marks.words[word] = 0;
      }
      for (; bits != 0; bits &= bits - 1) {
        take(nth++, static_cast<Page>(word * 32 + lowest_one(bits)), total);
      }
    }
    if (t == 0) {
      *marks.first_word = INT64_MAX;
      *marks.last_word = -1;
    }
  });
  return total;
}

/// collect(), onto the end of a list: the lowest page will be lent next.
template <int N, typename Block>
POOLPROOF_HD void collect_onto(Block& block, const Marks& marks, const Stack& stack, CollectShared<N>& shared) {
  const std::int64_t count = load_fresh(stack.count);
  const std::int64_t pushed = collect(block, marks, shared, [&](std::int64_t nth, Page page, std::int64_t total) {
    push(stack, count, total, nth, page);
  });
  block.each([&](int t) {
    if (t == 0) {
      *stack.count = pushed_count(stack, count, pushed);
    }
  });
}

}  // namespace poolproof::kernels
