// One free list of pages: the engine's TokenToKVPoolAllocator (page size 1) and PagedTokenToKVPoolAllocator.
//
// The list is a stack: pages are lent from its front, and returned pages are put back in front of it. With need_sort
// they are staged instead, and merged and sorted when lending runs short. Whoever lends makes room first.
//
// This is what a pool does; where its lists are kept is its storage's business (impl/host/storage.hpp). A call is for a
// whole batch, so that a storage far away can answer it in one exchange.
#pragma once

#include <cstdint>
#include <memory>
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
  /// `size` in tokens, a multiple of `page`; `page` a power of two. Pages 1..size/page are lendable; all are
  /// free when the implementation's constructor has ended.
  PagePool(Tokens size, Tokens page, bool need_sort);
  virtual ~PagePool() = default;

  /// An independent copy in the same state, in the same storage.
  [[nodiscard]] virtual std::unique_ptr<PagePool> clone() const = 0;
  /// Becomes a copy of `other`, which came of the same storage. False: it cannot in place, and is as it was.
  virtual bool assign(const PagePool& /*other*/) { return false; }

  [[nodiscard]] Tokens size() const { return size_; }
  [[nodiscard]] Tokens page() const { return page_; }
  [[nodiscard]] bool need_sort() const { return need_sort_; }
  /// Lendable pages.
  [[nodiscard]] std::int64_t page_count() const { return size_ >> shift_; }
  [[nodiscard]] Page page_of(Loc loc) const { return static_cast<Page>(loc >> shift_); }
  [[nodiscard]] Loc first_loc(Page page) const { return Loc{page} << shift_; }
  /// ceil(tokens / page).
  [[nodiscard]] std::int64_t pages_of(Tokens tokens) const { return (tokens + mask_) >> shift_; }
  /// Tokens that fit behind the first `length` ones without a new page.
  [[nodiscard]] Tokens rest_of_page(Pos length) const { return -length & mask_; }

  /// New pages that a batch takes.
  [[nodiscard]] std::int64_t pages_for_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens) const;
  [[nodiscard]] std::int64_t pages_for_decode(std::span<const Pos> seq_lens) const;

  // Lengths of the lists, kept at hand: they are asked for after every op.

  [[nodiscard]] std::int64_t free_pages() const { return free_pages_; }
  [[nodiscard]] std::int64_t staged_pages() const { return staged_pages_; }
  /// free + staged, in tokens.
  [[nodiscard]] Tokens available() const { return (free_pages_ + staged_pages_) << shift_; }

  /// Merges the staged pages when the free list alone is too short. False: it does not fit.
  bool make_room(std::int64_t pages) {
    if (pages > free_pages_ && staged_pages_ > 0) {
      merge_staged();
    }
    return pages <= free_pages_;
  }

  /// As new: every page free, ascending.
  virtual void clear() = 0;

  /// Sorts the staged pages into the free list, which is ascending at all times with need_sort.
  virtual void merge_staged() = 0;

  // Lending, once there is room. `out` takes exactly the new locs.

  /// Whole pages, then the head of one more.
  virtual void lend(std::span<Loc> out) = 0;
  /// For each request the rest of its last page, then as above.
  virtual void lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                           std::span<const Loc> last_locs, std::span<Loc> out) = 0;
  /// One loc a request: a new page at a page border, else the loc after the last.
  virtual void lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) = 0;

  /// Puts pages back in front of the list, in this order (need_sort: of the staged list). Nothing is checked: a page
  /// that a faulty allocator returns twice stands there twice.
  virtual void release(std::span<const Page> pages) = 0;

  /// The state as a value, for snapshots. Valid until the next call that changes the pool.
  [[nodiscard]] virtual const PageLists& lists() const = 0;
  virtual void set_lists(const PageLists& lists) = 0;

  /// Fills free and staged, next to be lent first.
  virtual void census(PoolCensus& out) const = 0;

 protected:
  PagePool(const PagePool&) = default;
  PagePool(PagePool&&) = default;
  PagePool& operator=(const PagePool&) = default;
  PagePool& operator=(PagePool&&) = default;

  /// Each call that changes a list ends with this: the lengths that the lists have now.
  void set_lengths(std::int64_t free_pages, std::int64_t staged_pages) {
    free_pages_ = free_pages;
    staged_pages_ = staged_pages;
  }
  /// Is this position the first of a page?
  [[nodiscard]] bool at_border(Pos pos) const { return (pos & mask_) == 0; }

 private:
  Tokens size_;
  Tokens page_;
  Tokens mask_;
  int shift_;
  bool need_sort_;
  std::int64_t free_pages_ = 0;
  std::int64_t staged_pages_ = 0;
};

/// Sorts ascending and drops repeats; nothing to do for pages in ascending order.
void sort_unique(std::vector<Page>& pages);

}  // namespace poolproof
