#include "impl/host/hybrid_allocator.hpp"

#include <algorithm>

namespace poolproof {

HybridAllocator::HybridAllocator(const Geometry& geometry)
    : HostAllocator(geometry), mapping_(geometry.mapping_length()), swa_kv_(swa_rows(geometry)) {}

std::unique_ptr<Allocator> HybridAllocator::clone() const { return std::make_unique<HybridAllocator>(*this); }

std::int64_t HybridAllocator::swa_rows(const Geometry& geometry) {
  return geometry.ringed() ? (geometry.reqs + 1) * geometry.ring : geometry.swa + geometry.page;
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
  last_peers_.resize(full_locs.size());
  std::transform(full_locs.begin(), full_locs.end(), last_peers_.begin(), [this](Loc loc) { return mapping_.at(loc); });
  return last_peers_;
}

void HybridAllocator::pair(std::span<const Loc> full, std::span<const Loc> swa) {
  for (std::size_t i = 0; i < full.size(); ++i) {
    mapping_.set(full[i], swa[i]);
  }
}

void HybridAllocator::clear_outside_tail(std::span<const Loc> full) {
  for (const Loc loc : full) {
    mapping_.set(loc, 0);
  }
}

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
  out.clear();
  const auto page_size = static_cast<std::size_t>(geometry().page);
  Page last = 0;
  for (const Page page : full_pages) {
    const auto first = static_cast<std::size_t>(pool(Pool::full).first_loc(page));
    // After a load-back the slots of one page may be paired with two SWA pages, or with none: all are looked at.
    for (const Loc peer : mapping_.entries().subspan(first, page_size)) {
      const Page peer_page = pool(Pool::swa).page_of(peer);
      if (peer != 0 && peer_page != last) {
        out.push_back(peer_page);
        last = peer_page;
      }
    }
  }
  sort_unique(out);
}

void HybridAllocator::detach_peers(std::span<const Page> full_pages) {
  for (const Page page : full_pages) {
    mapping_.clear(pool(Pool::full).first_loc(page), geometry().page);
  }
}

// The mapping.

Answer HybridAllocator::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  pair(full, swa);
  return Answer::served;
}

Answer HybridAllocator::clear_full_to_swa_mapping(std::span<const Loc> full) {
  for (const Loc loc : full) {
    mapping_.set(loc, 0);
  }
  return Answer::served;
}

Answer HybridAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  std::transform(full.begin(), full.end(), out.begin(), [this](Loc loc) { return mapping_.at(loc); });
  return Answer::served;
}

// The whole state.

Answer HybridAllocator::clear() {
  snapshots_.clear();
  clear_mapping();
  return HostAllocator::clear();
}

void HybridAllocator::clear_mapping() { mapping_ = Mapping(geometry().mapping_length()); }

Answer HybridAllocator::resize(Tokens full, Tokens swa) {
  snapshots_.clear();
  HostAllocator::resize(full, swa);
  clear_mapping();
  swa_kv_ = KvStore(swa_rows(geometry()));
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

std::int64_t HybridAllocator::swa_row(Loc full_loc, std::int64_t slot, Pos pos) const {
  // A loc without a peer maps to the padding slot: its KV is stored there and is nobody's.
  return geometry().ringed() ? slot * geometry().ring + pos % geometry().ring : mapping_.at(full_loc);
}

Answer HybridAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                  std::span<const Stamp> stamps) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) {
    swa_kv_.store(swa_row(full_locs[i], slot, first_pos + static_cast<Pos>(i)), stamps[i]);
  }
  return Answer::served;
}

Answer HybridAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                 std::span<Stamp> out) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) {
    out[i] = swa_kv_.load(swa_row(full_locs[i], slot, first_pos + static_cast<Pos>(i)));
  }
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
  out.mapping_tail = mapping_.tail();
  return Answer::served;
}

Answer HybridAllocator::census(Census& out) {
  HostAllocator::census(out);
  out.mapping = mapping_.entries();
  return Answer::served;
}

}  // namespace poolproof
