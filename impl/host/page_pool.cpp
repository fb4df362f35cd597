#include "impl/host/page_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>

namespace poolproof {

PagePool::PagePool(Tokens size, Tokens page, bool need_sort)
    : size_(size),
      page_(page),
      mask_(page - 1),
      shift_(std::countr_zero(static_cast<std::uint64_t>(page))),
      need_sort_(need_sort) {}

std::int64_t PagePool::pages_for_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens) const {
  std::int64_t pages = 0;
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    pages += pages_of(seq_lens[i]) - pages_of(prefix_lens[i]);
  }
  return pages;
}

std::int64_t PagePool::pages_for_decode(std::span<const Pos> seq_lens) const {
  return std::count_if(seq_lens.begin(), seq_lens.end(), [this](Pos seq) { return at_border(seq - 1); });
}

void sort_unique(std::vector<Page>& pages) {
  if (std::adjacent_find(pages.begin(), pages.end(), std::greater_equal<>()) == pages.end()) {
    return;
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

}  // namespace poolproof
