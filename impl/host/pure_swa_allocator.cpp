#include "impl/host/pure_swa_allocator.hpp"

#include <algorithm>

namespace poolproof {

PureSwaAllocator::PureSwaAllocator(const Geometry& geometry)
    : SingleAllocator(geometry), swa_kv_(geometry.full + geometry.page) {}

std::unique_ptr<Allocator> PureSwaAllocator::clone() const { return std::make_unique<PureSwaAllocator>(*this); }

void PureSwaAllocator::free_pages(Side side, std::span<const Page> full_pages) {
  if (side != Side::full) {
    give_back(Pool::full, full_pages);
  }
}

Answer PureSwaAllocator::set_full_to_swa_mapping(std::span<const Loc> /*full*/, std::span<const Loc> /*swa*/) {
  return Answer::refused;
}

Answer PureSwaAllocator::clear_full_to_swa_mapping(std::span<const Loc> /*full*/) { return Answer::refused; }

Answer PureSwaAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  std::copy(full.begin(), full.end(), out.begin());
  return Answer::served;
}

Answer PureSwaAllocator::resize(Tokens full, Tokens swa) {
  swa_kv_ = KvStore(full + geometry().page);
  return SingleAllocator::resize(full, swa);
}

Answer PureSwaAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t /*slot*/, Pos /*first_pos*/,
                                   std::span<const Stamp> stamps) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) {
    swa_kv_.store(full_locs[i], stamps[i]);
  }
  return Answer::served;
}

Answer PureSwaAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t /*slot*/, Pos /*first_pos*/,
                                  std::span<Stamp> out) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) {
    out[i] = swa_kv_.load(full_locs[i]);
  }
  return Answer::served;
}

Answer PureSwaAllocator::gauges(Gauges& out) {
  SingleAllocator::gauges(out);
  out.swa_available = out.full_available;
  out.swa_size = out.full_size;
  return Answer::served;
}

}  // namespace poolproof
