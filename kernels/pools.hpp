// The pools as kernels see them: device memory, and what of it changes with every launch.
//
// A list is a stack: the page that is lent next lies at its end, so that lending and returning touch one count. Counts
// live on the device, since a set-shaped free knows its own only there; they change when the last block of a launch has
// seen that all others are done with the old ones (kernels/last_block.hpp).
#pragma once

#include <cstdint>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

/// A stack of pages.
struct Stack {
  Page* pages = nullptr;
  std::int64_t* count = nullptr;
  std::int64_t capacity = 0;  ///< more than all pages; what a faulty caller returns beyond it is dropped
  bool in_order = false;      ///< pages lie in the order in which they were given back: a deferred list
};

/// Which pages a launch touched, a bit a page, with the range of words that hold them. All zero between launches.
struct Marks {
  std::uint32_t* words = nullptr;
  std::int64_t* first_word = nullptr;  ///< past all words when nothing is marked
  std::int64_t* last_word = nullptr;   ///< -1 when nothing is marked
};

/// One pool.
struct PoolView {
  Stack free;
  Stack staged;    ///< returned, not merged (need_sort)
  Stack deferred;  ///< given back inside an open group
  Marks marks;
};

/// All of it. Plain values, so that a launch takes it along.
struct PoolsView {
  PoolView full;
  PoolView swa;
  Loc* mapping = nullptr;  ///< null: the layout has none
  std::int64_t mapping_length = 0;
  std::uint32_t* ticket = nullptr;  ///< counts the blocks of a launch that are done
  Page* touched = nullptr;          ///< the full pages of a set-shaped free, ascending
  std::int64_t* touched_count = nullptr;
  std::int64_t touched_capacity = 0;
  int shift = 0;  ///< log2 of the page size
  bool ringed = false;

  [[nodiscard]] POOLPROOF_HD Tokens page() const { return Tokens{1} << shift; }
  /// In 64 bits: page 8,388,608 of 256 tokens begins past what 32 bits hold.
  [[nodiscard]] POOLPROOF_HD Loc first_loc(Page number) const { return Loc{number} << shift; }
  [[nodiscard]] POOLPROOF_HD std::int64_t page_of(Loc loc) const { return loc >> shift; }
  [[nodiscard]] POOLPROOF_HD std::int64_t pages_of(Tokens tokens) const { return (tokens + page() - 1) >> shift; }
  /// mapping[loc]; -1, "no last loc", reads the last entry.
  [[nodiscard]] POOLPROOF_HD Loc peer_of(Loc loc) const { return mapping[loc < 0 ? mapping_length - 1 : loc]; }
  /// A paged SWA pool that lends.
  [[nodiscard]] POOLPROOF_HD bool paired() const { return mapping != nullptr && !ringed; }
};

/// Where pages go that a free gives back.
enum class Target : std::uint8_t { free, staged, deferred };

POOLPROOF_HD const Stack& target_of(const PoolView& pool, Target target) {
  return target == Target::free ? pool.free : target == Target::staged ? pool.staged : pool.deferred;
}

/// The page that is lent `nth` next, counted from 0, while the stack holds `count` pages. A launch that lends changes
/// the count alone.
POOLPROOF_HD Page page_at(const Stack& stack, std::int64_t count, std::int64_t nth) {
#if defined(__CUDA_ARCH__)
  return load_constant(stack.pages + (count - 1 - nth));
#else
  // A planted fault may look past an end of the list. On a GPU it finds what lies there; here it must not leave the
  // memory.
  return stack.pages[most<std::int64_t>(0, least(stack.capacity - 1, count - 1 - nth))];
#endif
}

/// Puts the `nth` of `pushed` pages on a stack of `count`: the first will be lent next.
POOLPROOF_HD void push(const Stack& stack, std::int64_t count, std::int64_t pushed, std::int64_t nth, Page page) {
  const std::int64_t at = count + (stack.in_order ? nth : pushed - 1 - nth);
  if (at < stack.capacity) {
    stack.pages[at] = page;
  }
}

/// The count once `pushed` pages were pushed.
POOLPROOF_HD std::int64_t pushed_count(const Stack& stack, std::int64_t count, std::int64_t pushed) {
  return least(stack.capacity, count + pushed);
}

}  // namespace poolproof::kernels
