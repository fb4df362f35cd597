#include "impl/host/pure_swa_allocator.hpp"

#include <algorithm>
#include <utility>

#include "model/state_digest.hpp"

namespace poolproof {

PureSwaAllocator::PureSwaAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage)
    : SingleAllocator(geometry, std::move(storage)), swa_kv_(new_swa_kv()) {}

Cloned<KvStore> PureSwaAllocator::new_swa_kv() const {
  return Cloned<KvStore>(storage().kv_store(Pool::swa, geometry().full + geometry().page));
}

std::unique_ptr<Allocator> PureSwaAllocator::clone() const { return std::make_unique<PureSwaAllocator>(*this); }

bool PureSwaAllocator::assign(const Allocator& other) {
  *this = static_cast<const PureSwaAllocator&>(other);
  return true;
}

bool PureSwaAllocator::digest(StateDigest& out) const {
  out.stamps(swa_kv_->rows());
  return SingleAllocator::digest(out);
}

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
  const Answer answer = SingleAllocator::resize(full, swa);
  swa_kv_ = new_swa_kv();
  return answer;
}

Answer PureSwaAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t /*slot*/, Pos /*first_pos*/,
                                   std::span<const Stamp> stamps) {
  swa_kv_->store(full_locs, stamps);
  return Answer::served;
}

Answer PureSwaAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t /*slot*/, Pos /*first_pos*/,
                                  std::span<Stamp> out) {
  swa_kv_->load(full_locs, out);
  return Answer::served;
}

Answer PureSwaAllocator::gauges(Gauges& out) {
  SingleAllocator::gauges(out);
  out.swa_available = out.full_available;
  out.swa_size = out.full_size;
  return Answer::served;
}

}  // namespace poolproof
