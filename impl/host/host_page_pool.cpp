#include "impl/host/host_page_pool.hpp"

#include <algorithm>
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

HostPagePool::HostPagePool(Tokens size, Tokens page, bool need_sort) : PagePool(size, page, need_sort) {
  const auto count = static_cast<std::size_t>(page_count());
  lists_.free.reserve(count);
  if (need_sort) {
    lists_.staged.reserve(count);
  }
  HostPagePool::clear();
}

std::unique_ptr<PagePool> HostPagePool::clone() const { return std::make_unique<HostPagePool>(*this); }

void HostPagePool::clear() {
  lists_.staged.clear();
  lists_.free.resize(static_cast<std::size_t>(page_count()));
  auto page = static_cast<Page>(lists_.free.size());
  for (Page& entry : lists_.free) {
    entry = page--;
  }
  count();
}

void HostPagePool::count() {
  set_lengths(static_cast<std::int64_t>(lists_.free.size()), static_cast<std::int64_t>(lists_.staged.size()));
}

void HostPagePool::merge_staged() {
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
  count();
}

Page HostPagePool::take_page() {
  assert(!lists_.free.empty() && "lending without room");
  const Page page = lists_.free.back();
  lists_.free.pop_back();
  return page;
}

/// lend() without the count.
void HostPagePool::take(std::span<Loc> out) {
  if (page() == 1) {
    assert(out.size() <= lists_.free.size() && "lending without room");
    std::copy_n(lists_.free.rbegin(), out.size(), out.begin());
    lists_.free.resize(lists_.free.size() - out.size());
    return;
  }
  while (!out.empty()) {
    const std::size_t tokens = std::min(out.size(), static_cast<std::size_t>(page()));
    fill_run(out.first(tokens), first_loc(take_page()));
    out = out.subspan(tokens);
  }
}

void HostPagePool::lend(std::span<Loc> out) {
  take(out);
  count();
}

void HostPagePool::lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                               std::span<const Loc> last_locs, std::span<Loc> out) {
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    const auto tokens = static_cast<std::size_t>(seq_lens[i] - prefix_lens[i]);
    const std::size_t continued = std::min(tokens, static_cast<std::size_t>(rest_of_page(prefix_lens[i])));
    fill_run(out.first(continued), last_locs[i] + 1);
    take(out.subspan(continued, tokens - continued));
    out = out.subspan(tokens);
  }
  count();
}

void HostPagePool::lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) {
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    out[i] = at_border(seq_lens[i] - 1) ? first_loc(take_page()) : last_locs[i] + 1;
  }
  count();
}

void HostPagePool::release(std::span<const Page> pages) {
  std::vector<Page>& list = need_sort() ? lists_.staged : lists_.free;
  list.insert(list.end(), pages.rbegin(), pages.rend());
  count();
}

void HostPagePool::set_lists(const PageLists& lists) {
  lists_ = lists;
  count();
}

void HostPagePool::census(PoolCensus& out) const {
  out.free.assign(lists_.free.rbegin(), lists_.free.rend());
  out.staged.assign(lists_.staged.rbegin(), lists_.staged.rend());
}

}  // namespace poolproof
