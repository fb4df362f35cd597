// One free list of pages: the engine's TokenToKVPoolAllocator (page size 1) and PagedTokenToKVPoolAllocator.
//
// The list is a stack: pages are lent from its front, and returned pages are put back in front of it. With need_sort
// they are staged instead, and merged and sorted when lending runs short. Whoever lends makes room first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/observation.hpp"
#include "model/units.hpp"

namespace poolproof {

/// Both lists with the page that comes next at the back, so that lending is a pop.
struct PageLists {
  std::vector<Page> free;
  std::vector<Page> staged;  ///< returned, not merged yet (need_sort)
};

class PagePool {
 public:
  /// `size` in tokens, a multiple of `page`; `page` a power of two. Pages 1..size/page are lendable.
  PagePool(Tokens size, Tokens page, bool need_sort);

  /// As new: every page free, ascending.
  void clear();

  [[nodiscard]] Tokens size() const { return size_; }
  [[nodiscard]] Tokens page() const { return page_; }
  [[nodiscard]] bool need_sort() const { return need_sort_; }
  [[nodiscard]] Page page_of(Loc loc) const { return static_cast<Page>(loc >> shift_); }
  [[nodiscard]] Loc first_loc(Page page) const { return Loc{page} << shift_; }
  /// ceil(tokens / page).
  [[nodiscard]] std::int64_t pages_of(Tokens tokens) const { return (tokens + mask_) >> shift_; }

  [[nodiscard]] std::int64_t free_pages() const { return static_cast<std::int64_t>(lists_.free.size()); }
  [[nodiscard]] std::int64_t staged_pages() const { return static_cast<std::int64_t>(lists_.staged.size()); }
  /// free + staged, in tokens.
  [[nodiscard]] Tokens available() const { return (free_pages() + staged_pages()) << shift_; }

  /// New pages that a batch takes.
  [[nodiscard]] std::int64_t pages_for_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens) const;
  [[nodiscard]] std::int64_t pages_for_decode(std::span<const Pos> seq_lens) const;

  /// Merges the staged pages when the free list alone is too short. False: it does not fit.
  bool make_room(std::int64_t pages);

  // Lending, once there is room. `out` takes exactly the new locs.

  /// Whole pages, then the head of one more.
  void lend(std::span<Loc> out);
  /// For each request the rest of its last page, then as above.
  void lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                   std::span<Loc> out);
  /// One loc a request: a new page at a page border, else the loc after the last.
  void lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out);

  /// Puts pages back in front of the list, in this order (need_sort: of the staged list).
  void release(std::span<const Page> pages);

  /// The state as a value, for snapshots.
  [[nodiscard]] const PageLists& lists() const { return lists_; }
  void set_lists(const PageLists& lists) { lists_ = lists; }

  /// Fills free and staged, next to be lent first.
  void census(PoolCensus& out) const;

 private:
  void merge_staged();
  Page take_page();

  Tokens size_;
  Tokens page_;
  Tokens mask_;
  int shift_;
  bool need_sort_;
  PageLists lists_;
};

/// Sorts ascending and drops repeats; nothing to do for pages in ascending order.
void sort_unique(std::vector<Page>& pages);

}  // namespace poolproof
