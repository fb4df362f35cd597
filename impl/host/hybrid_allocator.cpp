#include "impl/host/hybrid_allocator.hpp"

#include <algorithm>
#include <utility>

#include "model/state_digest.hpp"

namespace poolproof {

HybridAllocator::HybridAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage)
    : HostAllocator(geometry, std::move(storage)),
      mapping_(HostAllocator::storage().mapping(geometry.mapping_length())),
      swa_kv_(new_swa_kv()) {}

std::unique_ptr<Allocator> HybridAllocator::clone() const { return std::make_unique<HybridAllocator>(*this); }

bool HybridAllocator::assign(const Allocator& other) {
  *this = static_cast<const HybridAllocator&>(other);
  return true;
}

bool HybridAllocator::digest(StateDigest& out) const {
  out.numbers(mapping_->entries());
  out.stamps(swa_kv_->rows());
  for (const auto& [key, snapshot] : snapshots_) {
    out.number(key);
    for (const PageLists* lists : {&snapshot.full, &snapshot.swa}) {
      out.numbers(lists->free);
      out.numbers(lists->staged);
    }
    out.numbers(snapshot.mapping->entries());
  }
  return HostAllocator::digest(out);
}

Cloned<KvStore> HybridAllocator::new_swa_kv() const {
  const Geometry& g = geometry();
  return Cloned<KvStore>(storage().kv_store(Pool::swa, g.ringed() ? (g.reqs + 1) * g.ring : g.swa + g.page));
}

// Lending.

bool HybridAllocator::make_joint_room(std::int64_t full_pages, std::int64_t swa_pages) {
  return make_room(Pool::full, full_pages) && (geometry().ringed() || make_room(Pool::swa, swa_pages));
}

Answer HybridAllocator::alloc(Tokens tokens, Locs& out) {
  const std::int64_t pages = pool(Pool::full).pages_of(tokens);
  if (!make_joint_room(pages, pages)) {
    return Answer::refused;
  }
  lend(Pool::full, tokens, out);
  if (!geometry().ringed()) {
    lend(Pool::swa, tokens, swa_locs_);
    pair(out, swa_locs_);
  }
  return Answer::served;
}

Answer HybridAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                     std::span<const Loc> last_locs, Locs& out) {
  const std::int64_t pages = pool(Pool::full).pages_for_extend(prefix_lens, seq_lens);
  if (!make_joint_room(pages, pages)) {
    return Answer::refused;
  }
  lend_extend(Pool::full, prefix_lens, seq_lens, last_locs, out);
  if (!geometry().ringed()) {
    lend_extend(Pool::swa, prefix_lens, seq_lens, peers_of(last_locs), swa_locs_);
    pair(out, swa_locs_);
  }
  return Answer::served;
}

Answer HybridAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  const std::int64_t pages = pool(Pool::full).pages_for_decode(seq_lens);
  if (!make_joint_room(pages, pages)) {
    return Answer::refused;
  }
  lend_decode(Pool::full, seq_lens, last_locs, out);
  if (!geometry().ringed()) {
    lend_decode(Pool::swa, seq_lens, peers_of(last_locs), swa_locs_);
    pair(out, swa_locs_);
  }
  return Answer::served;
}

Answer HybridAllocator::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                              Locs& out) {
  const std::span<const Pos> prefix_lens(&prefix_len, 1);
  const std::span<const Pos> seq_lens(&seq_len, 1);
  const std::int64_t full_pages = pool(Pool::full).pages_for_extend(prefix_lens, seq_lens);
  if (!make_joint_room(full_pages, pool(Pool::swa).pages_of(tail_len))) {
    return Answer::refused;
  }
  lend_extend(Pool::full, prefix_lens, seq_lens, std::span<const Loc>(&last_loc, 1), out);
  if (geometry().ringed()) {
    return Answer::served;
  }
  lend(Pool::swa, tail_len, swa_locs_);
  const std::span<const Loc> locs(out);
  const auto before = static_cast<std::size_t>(tail_end - tail_len - prefix_len);
  const auto count = static_cast<std::size_t>(tail_len);
  clear_outside_tail(locs.first(before));
  pair(locs.subspan(before, count), swa_locs_);
  clear_outside_tail(locs.subspan(before + count));
  return Answer::served;
}

std::span<const Loc> HybridAllocator::peers_of(std::span<const Loc> full_locs) {
  peer_locs_.resize(full_locs.size());
  mapping_->translate(full_locs, peer_locs_);
  return peer_locs_;
}

void HybridAllocator::pair(std::span<const Loc> full, std::span<const Loc> swa) { mapping_->pair(full, swa); }

void HybridAllocator::clear_outside_tail(std::span<const Loc> full) { mapping_->clear(full); }

// Giving back.

void HybridAllocator::free_pages(Side side, std::span<const Page> full_pages) {
  // A ring's entries are nobody's pages, so a full-only free may clear them too; a paired pool has none left by then.
  if (side != Side::full || geometry().ringed()) {
    free_swa_pages(side, full_pages);
  }
  if (side != Side::swa) {
    give_back(Pool::full, full_pages);
  }
}

void HybridAllocator::free_swa_pages(Side /*side*/, std::span<const Page> full_pages) {
  if (geometry().ringed()) {
    detach_peers(full_pages);
    return;
  }
  collect_peers(full_pages, peers_);
  detach_peers(full_pages);
  give_back(Pool::swa, peers_);
}

void HybridAllocator::collect_peers(std::span<const Page> full_pages, std::vector<Page>& out) {
  // After a load-back the slots of one page may be paired with two SWA pages, or with none: all are looked at.
  mapping_->peer_pages(full_pages, geometry().page, out);
  sort_unique(out);
}

void HybridAllocator::detach_peers(std::span<const Page> full_pages) {
  mapping_->clear_pages(full_pages, geometry().page);
}

// The mapping.

Answer HybridAllocator::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  pair(full, swa);
  return Answer::served;
}

Answer HybridAllocator::clear_full_to_swa_mapping(std::span<const Loc> full) {
  mapping_->clear(full);
  return Answer::served;
}

Answer HybridAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  mapping_->translate(full, out);
  return Answer::served;
}

// The whole state.

Answer HybridAllocator::clear() {
  snapshots_.clear();
  clear_mapping();
  return HostAllocator::clear();
}

void HybridAllocator::clear_mapping() { mapping_->reset(geometry().mapping_length()); }

Answer HybridAllocator::resize(Tokens full, Tokens swa) {
  snapshots_.clear();
  HostAllocator::resize(full, swa);
  clear_mapping();
  swa_kv_ = new_swa_kv();
  return Answer::served;
}

Answer HybridAllocator::backup_state(std::uint32_t key) {
  snapshots_.insert_or_assign(key, Snapshot{pool(Pool::full).lists(), pool(Pool::swa).lists(), mapping_});
  return Answer::served;
}

Answer HybridAllocator::restore_state(std::uint32_t key) {
  const auto snapshot = snapshots_.find(key);
  if (snapshot == snapshots_.end()) {
    return Answer::refused;
  }
  restore_snapshot(snapshot->second);
  return Answer::served;
}

void HybridAllocator::restore_snapshot(const Snapshot& snapshot) {
  restore_pool(Pool::full, snapshot.full);
  restore_pool(Pool::swa, snapshot.swa);
  mapping_ = snapshot.mapping;
}

// KV of sliding-window layers.

std::span<const std::int64_t> HybridAllocator::swa_rows(std::span<const Loc> full_locs, std::int64_t slot,
                                                        Pos first_pos) {
  if (!geometry().ringed()) {
    return peers_of(full_locs);  // of a loc without a peer the padding slot: its KV is stored there and is nobody's
  }
  const Tokens ring = geometry().ring;
  rows_.resize(full_locs.size());
  Pos at = first_pos % ring;
  for (std::int64_t& row : rows_) {
    row = slot * ring + at;
    at = at + 1 == ring ? 0 : at + 1;
  }
  return rows_;
}

Answer HybridAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                  std::span<const Stamp> stamps) {
  swa_kv_->store(swa_rows(full_locs, slot, first_pos), stamps);
  return Answer::served;
}

Answer HybridAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                 std::span<Stamp> out) {
  swa_kv_->load(swa_rows(full_locs, slot, first_pos), out);
  return Answer::served;
}

// What the checks look at.

Answer HybridAllocator::gauges(Gauges& out) {
  HostAllocator::gauges(out);
  out.swa_pool_available = pool(Pool::swa).available();
  out.swa_pool_size = pool(Pool::swa).size();
  if (geometry().ringed()) {
    out.swa_available = out.slots_free * geometry().ring_cost();
    out.swa_size = out.slots * geometry().ring_cost();
  } else {
    out.swa_available = out.swa_pool_available;
    out.swa_size = out.swa_pool_size;
    out.available = std::min(out.full_available, out.swa_available);
  }
  out.size = std::min(out.full_size, out.swa_size);
  out.mapping_tail = mapping_->tail();
  return Answer::served;
}

Answer HybridAllocator::census(Census& out) {
  HostAllocator::census(out);
  out.mapping = mapping_->entries();
  return Answer::served;
}

}  // namespace poolproof
