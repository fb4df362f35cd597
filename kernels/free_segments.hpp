// The segment-shaped frees: one representative a page names the page, so that nothing is sorted or deduplicated on the
// full side, and the count is known to the caller from the lengths. A thread looks at a few slots of one page.
#pragma once

#include <string_view>

#include "kernels/detach.hpp"
#include "kernels/last_block.hpp"
#include "kernels/marks.hpp"

namespace poolproof::kernels {

/// A slice of a row, in device memory.
struct SegmentView {
  const Loc* locs = nullptr;
  std::int64_t first_page = 0;  ///< pages of the segments before
  Tokens count = 0;
};

/// `Partial`: the page in which a segment ends is detached too; false is a planted fault.
template <bool Partial>
struct BasicFreeSegmentsKernel {
  static constexpr std::string_view name = Partial ? "free_segments" : "free_segments (whole pages)";
  static constexpr int threads = 512;
  static constexpr std::int64_t most_segments = 64;  ///< a launch takes along

  PoolsView pools;
  SegmentView segments[most_segments];
  std::int64_t segment_count = 0;
  std::int64_t pages = 0;  ///< of all segments
  bool give_full = false;
  bool give_swa = false;
  bool collect_swa = true;  ///< false: a later launch of the same free does it
  Target target = Target::free;
  int own = 0;  ///< slots_a_thread_shift()

  struct Shared {
    MarkRange range;
    CollectShared<threads> collected;
    bool last_block;
  };

  [[nodiscard]] std::int64_t blocks() const {
    const bool by_slot = give_swa && pools.mapping != nullptr;
    return most<std::int64_t>(1, parts_of(by_slot ? pages << (pools.shift - own) : pages, threads));
  }

  [[nodiscard]] POOLPROOF_HD const SegmentView& segment_of(std::int64_t nth) const {
    std::int64_t at = 0;
    while (at + 1 < segment_count && segments[at + 1].first_page <= nth) {
      ++at;
    }
    return segments[at];
  }

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    const bool by_slot = give_swa && pools.mapping != nullptr;
    const int shift = by_slot ? pools.shift - own : 0;  // log2 of the threads a page
    const Stack& full = target_of(pools.full, target);
    const std::int64_t count = *full.count;
    begin_marking(block, shared.range);
    block.each([&](int t) {
      const std::int64_t i = block.index() * threads + t;
      const std::int64_t nth = i >> shift;
      const Tokens slot = (i & ((Tokens{1} << shift) - 1)) << own;
      if (nth >= pages) {
        return;
      }
      const SegmentView& segment = segment_of(nth);
      const Tokens offset = (nth - segment.first_page) << pools.shift;
      const auto page = static_cast<Page>(pools.page_of(segment.locs[offset]));
      if (give_full && slot == 0) {
        push(full, count, pages, nth, page);
      }
      if (by_slot && (Partial || offset + pools.page() <= segment.count)) {
        detach_slots(pools, shared.range, pools.first_loc(page) + slot, own);
      }
    });
    end_marking(block, pools.swa.marks, shared.range);
    if (is_last_block(block, pools.ticket, shared.last_block)) {
      settle(block, shared, full, count);
    }
  }

  template <typename Block>
  POOLPROOF_HD void settle(Block& block, Shared& shared, const Stack& full, std::int64_t count) const {
    if (give_full) {
      block.each([&](int t) {
        if (t == 0) {
          *full.count = pushed_count(full, count, pages);
        }
      });
    }
    if (give_swa && collect_swa && pools.paired()) {
      collect_onto(block, pools.swa.marks, target_of(pools.swa, target), shared.collected);
    }
  }
};

using FreeSegmentsKernel = BasicFreeSegmentsKernel<true>;

}  // namespace poolproof::kernels
