#include "impl/host/host_mapping.hpp"

#include <algorithm>
#include <bit>

namespace poolproof {

std::unique_ptr<Mapping> HostMapping::clone() const { return std::make_unique<HostMapping>(*this); }

void HostMapping::reset(std::int64_t length) {
  entries_ = ZeroedArray<Loc>(static_cast<std::size_t>(length));
  entries_[entries_.size() - 1] = -1;
}

void HostMapping::translate(std::span<const Loc> full, std::span<Loc> out) const {
  std::transform(full.begin(), full.end(), out.begin(), [this](Loc loc) { return entries_[index(loc)]; });
}

void HostMapping::pair(std::span<const Loc> full, std::span<const Loc> swa) {
  for (std::size_t i = 0; i < full.size(); ++i) {
    entries_[index(full[i])] = swa[i];
  }
}

void HostMapping::clear(std::span<const Loc> full) {
  for (const Loc loc : full) {
    entries_[index(loc)] = 0;
  }
}

void HostMapping::clear_pages(std::span<const Page> full_pages, Tokens page) {
  for (const Page full_page : full_pages) {
    const std::span<Loc> from = entries_.span().subspan(static_cast<std::size_t>(full_page * page));
    std::fill_n(from.begin(), page, Loc{0});
  }
}

void HostMapping::peer_pages(std::span<const Page> full_pages, Tokens page, std::vector<Page>& out) const {
  out.clear();
  const int shift = std::countr_zero(static_cast<std::uint64_t>(page));
  Page last = 0;
  for (const Page full_page : full_pages) {
    const auto first = static_cast<std::size_t>(full_page * page);
    for (const Loc peer : entries_.span().subspan(first, static_cast<std::size_t>(page))) {
      const auto peer_page = static_cast<Page>(peer >> shift);
      if (peer != 0 && peer_page != last) {
        out.push_back(peer_page);
        last = peer_page;
      }
    }
  }
}

}  // namespace poolproof
