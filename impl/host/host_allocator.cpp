#include "impl/host/host_allocator.hpp"

#include <cstddef>
#include <utility>

#include "model/state_digest.hpp"

namespace poolproof {

HostAllocator::HostAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage)
    : storage_(std::move(storage)),
      geometry_(geometry),
      pools_(new_pools()),
      slots_(geometry.reqs),
      full_kv_(new_full_kv()) {}

HostAllocator::Pools HostAllocator::new_pools() const {
  const auto pool = [this](Tokens size) {
    return Cloned<PagePool>(storage_->page_pool(size, geometry_.page, geometry_.need_sort));
  };
  return {pool(geometry_.full), pool(geometry_.hybrid() ? geometry_.swa : 0)};
}

Cloned<KvStore> HostAllocator::new_full_kv() const {
  return Cloned<KvStore>(storage_->kv_store(Pool::full, geometry_.full + geometry_.page));
}

// Lending.

bool HostAllocator::make_room(Pool which, std::int64_t pages) { return pool(which).make_room(pages); }

void HostAllocator::lend(Pool which, Tokens tokens, Locs& out) {
  out.resize(static_cast<std::size_t>(tokens));
  pool(which).lend(out);
}

void HostAllocator::lend_extend(Pool which, std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                std::span<const Loc> last_locs, Locs& out) {
  Tokens tokens = 0;
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    tokens += seq_lens[i] - prefix_lens[i];
  }
  out.resize(static_cast<std::size_t>(tokens));
  pool(which).lend_extend(prefix_lens, seq_lens, last_locs, out);
}

void HostAllocator::lend_decode(Pool which, std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  out.resize(seq_lens.size());
  pool(which).lend_decode(seq_lens, last_locs, out);
}

// Giving back.

Answer HostAllocator::free(Side side, std::span<const Loc> locs) {
  collect_pages(locs, touched_);
  free_pages(side, touched_);
  return Answer::served;
}

Answer HostAllocator::free_segments(Side side, std::span<const Segment> segments) {
  collect_segment_pages(segments, touched_);
  free_pages(side, touched_);
  return Answer::served;
}

void HostAllocator::collect_pages(std::span<const Loc> locs, std::vector<Page>& out) {
  out.clear();
  for (const Loc loc : locs) {
    const Page page = pool(Pool::full).page_of(loc);
    if (out.empty() || out.back() != page) {
      out.push_back(page);
    }
  }
  sort_unique(out);
}

void HostAllocator::collect_segment_pages(std::span<const Segment> segments, std::vector<Page>& out) {
  out.clear();
  const auto stride = static_cast<std::size_t>(geometry_.page);
  for (const Segment& segment : segments) {
    for (std::size_t i = 0; i < segment.locs.size(); i += stride) {
      out.push_back(pool(Pool::full).page_of(segment.locs[i]));
    }
  }
}

void HostAllocator::give_back(Pool which, std::span<const Page> pages) {
  if (group_open_) {
    deferred(which).insert(deferred(which).end(), pages.begin(), pages.end());
  } else {
    return_pages(which, pages);
  }
}

void HostAllocator::return_pages(Pool which, std::span<const Page> pages) { pool(which).release(pages); }

Answer HostAllocator::free_group_begin() {
  if (group_open_) {
    return Answer::refused;
  }
  group_open_ = true;
  return Answer::served;
}

Answer HostAllocator::free_group_end() {
  if (!group_open_) {
    return Answer::refused;
  }
  group_open_ = false;
  close_group();
  return Answer::served;
}

void HostAllocator::close_group() {
  for (const Pool which : {Pool::swa, Pool::full}) {
    std::vector<Page>& queue = deferred(which);
    sort_unique(queue);
    return_pages(which, queue);
    queue.clear();
  }
}

void HostAllocator::forget_group() {
  group_open_ = false;
  deferred(Pool::full).clear();
  deferred(Pool::swa).clear();
}

// What only a hybrid pool has.

Answer HostAllocator::alloc_extend_swa_tail(Pos /*prefix_len*/, Pos /*seq_len*/, Loc /*last_loc*/, Tokens /*tail_len*/,
                                            Pos /*tail_end*/, Locs& /*out*/) {
  return Answer::failed;
}
Answer HostAllocator::set_full_to_swa_mapping(std::span<const Loc> /*full*/, std::span<const Loc> /*swa*/) {
  return Answer::failed;
}
Answer HostAllocator::clear_full_to_swa_mapping(std::span<const Loc> /*full*/) { return Answer::failed; }
Answer HostAllocator::translate_loc_from_full_to_swa(std::span<const Loc> /*full*/, std::span<Loc> /*out*/) {
  return Answer::failed;
}
Answer HostAllocator::write_swa(std::span<const Loc> /*full_locs*/, std::int64_t /*slot*/, Pos /*first_pos*/,
                                std::span<const Stamp> /*stamps*/) {
  return Answer::failed;
}
Answer HostAllocator::read_swa(std::span<const Loc> /*full_locs*/, std::int64_t /*slot*/, Pos /*first_pos*/,
                               std::span<Stamp> /*out*/) {
  return Answer::failed;
}
std::string HostAllocator::failure() const {
  return "a pool of layout '" + std::string(layout_name(geometry_.layout)) + "' does not offer this call";
}

// The whole state.

Answer HostAllocator::clear() {
  pool(Pool::full).clear();
  pool(Pool::swa).clear();
  forget_group();
  slots_.clear();
  return Answer::served;
}

Answer HostAllocator::resize(Tokens full, Tokens swa) {
  geometry_.full = full;
  geometry_.swa = geometry_.hybrid() ? swa : 0;
  pools_ = new_pools();
  forget_group();
  slots_.clear();
  full_kv_ = new_full_kv();
  return Answer::served;
}

void HostAllocator::restore_pool(Pool which, const PageLists& lists) { pool(which).set_lists(lists); }

// Request slots.

Answer HostAllocator::take_slot(std::int64_t& slot) {
  const std::optional<std::int64_t> taken = slots_.take();
  if (!taken) {
    return Answer::refused;
  }
  slot = *taken;
  return Answer::served;
}

Answer HostAllocator::give_slot(std::int64_t slot) {
  slots_.give(slot);
  return Answer::served;
}

// KV of full-attention layers.

Answer HostAllocator::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  full_kv_->store(full_locs, stamps);
  return Answer::served;
}

Answer HostAllocator::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  full_kv_->load(full_locs, out);
  return Answer::served;
}

// What the checks look at.

Answer HostAllocator::gauges(Gauges& out) {
  const PagePool& full = pool(Pool::full);
  // Every field is named: filling the whole first would cost more than all the rest of it.
  out = {.available = full.available(),
         .size = full.size(),
         .full_available = full.available(),
         .full_size = full.size(),
         .swa_available = 0,
         .swa_size = 0,
         .swa_pool_available = 0,
         .swa_pool_size = 0,
         .slots_free = slots_.free_count(),
         .slots = slots_.count(),
         .mapping_tail = -1};
  return Answer::served;
}

Answer HostAllocator::census(Census& out) {
  pool(Pool::full).census(out.full);
  pool(Pool::swa).census(out.swa);
  out.full.deferred.assign(deferred(Pool::full).begin(), deferred(Pool::full).end());
  out.swa.deferred.assign(deferred(Pool::swa).begin(), deferred(Pool::swa).end());
  out.mapping = {};
  out.free_slots.assign(slots_.free_list().rbegin(), slots_.free_list().rend());
  return Answer::served;
}

bool HostAllocator::digest(StateDigest& out) const {
  for (const Pool which : {Pool::full, Pool::swa}) {
    const PageLists& lists = pool(which).lists();
    out.numbers(lists.free);
    out.numbers(lists.staged);
    out.numbers(deferred_[static_cast<std::size_t>(which)]);
  }
  out.number(static_cast<std::uint64_t>(pool(Pool::full).size()) | (group_open_ ? 1ULL << 63U : 0));
  out.numbers(slots_.free_list());
  out.stamps(full_kv_->rows());
  return true;
}

}  // namespace poolproof
