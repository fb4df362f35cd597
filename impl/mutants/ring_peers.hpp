// What an ungated free reads in ring mode: one representative a page, unfiltered.
#pragma once

#include <span>
#include <vector>

#include "impl/host/mapping.hpp"
#include "impl/host/page_pool.hpp"

namespace poolproof {

/// The page of the peer of each full page's first slot: 0 where there is none.
inline std::vector<Page> representative_peer_pages(const Mapping& mapping, const PagePool& full,
                                                   std::span<const Page> full_pages) {
  std::vector<Page> peers;
  for (const Page page : full_pages) {
    peers.push_back(full.page_of(mapping.at(full.first_loc(page))));
  }
  return peers;
}

}  // namespace poolproof
