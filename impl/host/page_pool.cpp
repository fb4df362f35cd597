#include "impl/host/page_pool.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>

namespace poolproof {
namespace {

void fill_run(std::span<Loc> out, Loc first) {
  for (Loc& loc : out) {
    loc = first++;
  }
}

}  // namespace

PagePool::PagePool(Tokens size, Tokens page, bool need_sort)
    : size_(size),
      page_(page),
      mask_(page - 1),
      shift_(std::countr_zero(static_cast<std::uint64_t>(page))),
      need_sort_(need_sort) {
  const auto pages = static_cast<std::size_t>(size >> shift_);
  lists_.free.reserve(pages);
  if (need_sort) {
    lists_.staged.reserve(pages);
  }
  clear();
}

void PagePool::clear() {
  lists_.staged.clear();
  lists_.free.resize(static_cast<std::size_t>(size_ >> shift_));
  auto page = static_cast<Page>(lists_.free.size());
  for (Page& entry : lists_.free) {
    entry = page--;
  }
}

std::int64_t PagePool::pages_for_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens) const {
  std::int64_t pages = 0;
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    pages += pages_of(seq_lens[i]) - pages_of(prefix_lens[i]);
  }
  return pages;
}

std::int64_t PagePool::pages_for_decode(std::span<const Pos> seq_lens) const {
  return std::count_if(seq_lens.begin(), seq_lens.end(), [this](Pos seq) { return ((seq - 1) & mask_) == 0; });
}

bool PagePool::make_room(std::int64_t pages) {
  if (pages > free_pages() && !lists_.staged.empty()) {
    merge_staged();
  }
  return pages <= free_pages();
}

void PagePool::merge_staged() {
  std::sort(lists_.staged.begin(), lists_.staged.end(), std::greater<>());
  std::vector<Page>& free = lists_.free;
  const std::vector<Page>& staged = lists_.staged;
  std::size_t mine = free.size();
  std::size_t theirs = staged.size();
  free.resize(mine + theirs);
  // Both descend, so merging from the back needs no second buffer.
  for (std::size_t out = free.size(); theirs > 0;) {
    const bool take_mine = mine > 0 && free[mine - 1] < staged[theirs - 1];
    free[--out] = take_mine ? free[--mine] : staged[--theirs];
  }
  lists_.staged.clear();
}

Page PagePool::take_page() {
  assert(!lists_.free.empty() && "lending without room");
  const Page page = lists_.free.back();
  lists_.free.pop_back();
  return page;
}

void PagePool::lend(std::span<Loc> out) {
  if (page_ == 1) {
    assert(out.size() <= lists_.free.size() && "lending without room");
    std::copy_n(lists_.free.rbegin(), out.size(), out.begin());
    lists_.free.resize(lists_.free.size() - out.size());
    return;
  }
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), static_cast<std::size_t>(page_));
    fill_run(out.first(count), first_loc(take_page()));
    out = out.subspan(count);
  }
}

void PagePool::lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                           std::span<const Loc> last_locs, std::span<Loc> out) {
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    const auto count = static_cast<std::size_t>(seq_lens[i] - prefix_lens[i]);
    const auto rest_of_page = static_cast<std::size_t>(-prefix_lens[i] & mask_);
    const std::size_t continued = std::min(count, rest_of_page);
    fill_run(out.first(continued), last_locs[i] + 1);
    lend(out.subspan(continued, count - continued));
    out = out.subspan(count);
  }
}

void PagePool::lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) {
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    out[i] = ((seq_lens[i] - 1) & mask_) == 0 ? first_loc(take_page()) : last_locs[i] + 1;
  }
}

void PagePool::release(std::span<const Page> pages) {
  std::vector<Page>& list = need_sort_ ? lists_.staged : lists_.free;
  list.insert(list.end(), pages.rbegin(), pages.rend());
}

void PagePool::census(PoolCensus& out) const {
  out.free.assign(lists_.free.rbegin(), lists_.free.rend());
  out.staged.assign(lists_.staged.rbegin(), lists_.staged.rend());
}

void sort_unique(std::vector<Page>& pages) {
  if (std::adjacent_find(pages.begin(), pages.end(), std::greater_equal<>()) == pages.end()) {
    return;
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

}  // namespace poolproof
