#include "impl/device/device_twin.hpp"

#include <algorithm>
#include <utility>

#include "model/state_digest.hpp"

namespace poolproof {
namespace {

bool clean(const kernels::CensusCounts& counts) {
  return counts.outside == 0 && counts.padding == 0 && counts.repeated == 0 && counts.peer_outside == 0 &&
         counts.peer_repeated == 0 && counts.peer_idle == 0 && counts.idle_mapped == 0 && counts.tail_wrong == 0;
}

}  // namespace

DeviceTwin::DeviceTwin(std::unique_ptr<DevicePools> pools) : pools_(std::move(pools)), slots_(geo().reqs) {
  const std::shared_ptr<Device>& device = pools_->shared_device();
  constexpr std::int64_t first_size = 256;
  for (DeviceArray<std::int64_t>* array : {&uploads_.first, &uploads_.second, &uploads_.third, &out_}) {
    *array = DeviceArray<std::int64_t>(device, first_size, "arguments of a call");
  }
  uploads_.stamps = DeviceArray<Stamp>(device, first_size, "stamps of a call");
}

DeviceTwin::DeviceTwin(const DeviceTwin& other)
    : Allocator(other),
      pools_(other.pools_->clone()),
      slots_(other.slots_),
      uploads_(other.uploads_),
      out_(other.out_) {}

std::unique_ptr<Allocator> DeviceTwin::clone() const { return std::unique_ptr<Allocator>(new DeviceTwin(*this)); }

// ---- arguments and answers

const std::int64_t* DeviceTwin::up(DeviceArray<std::int64_t>& array, std::span<const std::int64_t> values) {
  array.grow(static_cast<std::int64_t>(values.size()));
  array.upload(values);
  return array.data();
}

Loc* DeviceTwin::room(Tokens tokens) {
  out_.grow(tokens);
  return out_.data();
}

Answer DeviceTwin::bring(Answer answer, Tokens tokens, Locs& out) {
  if (answer == Answer::served) {
    out.resize(static_cast<std::size_t>(tokens));
    out_.download(out);
  }
  return answer;
}

// ---- lending

Answer DeviceTwin::alloc(Tokens tokens, Locs& out) { return bring(pools_->alloc(tokens, room(tokens)), tokens, out); }

Answer DeviceTwin::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                std::span<const Loc> last_locs, Locs& out) {
  Tokens tokens = 0;
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    tokens += seq_lens[i] - prefix_lens[i];
  }
  ExtendBatch batch;
  batch.prefix_lens = prefix_lens;
  batch.seq_lens = seq_lens;
  batch.device_prefix_lens = up(uploads_.first, prefix_lens);
  batch.device_seq_lens = up(uploads_.second, seq_lens);
  batch.device_last_locs = up(uploads_.third, last_locs);
  return bring(pools_->alloc_extend(batch, room(tokens)), tokens, out);
}

Answer DeviceTwin::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  const auto tokens = static_cast<Tokens>(seq_lens.size());
  DecodeBatch batch;
  batch.seq_lens = seq_lens;
  batch.device_seq_lens = up(uploads_.first, seq_lens);
  batch.device_last_locs = up(uploads_.second, last_locs);
  return bring(pools_->alloc_decode(batch, room(tokens)), tokens, out);
}

Answer DeviceTwin::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                         Locs& out) {
  const Tokens tokens = seq_len - prefix_len;
  return bring(pools_->alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, room(tokens)), tokens,
               out);
}

// ---- giving back

Answer DeviceTwin::free(Side side, std::span<const Loc> locs) {
  pools_->free(side, up(uploads_.first, locs), static_cast<std::int64_t>(locs.size()));
  return Answer::served;
}

Answer DeviceTwin::free_segments(Side side, std::span<const Segment> segments) {
  call_locs_.clear();
  for (const Segment& segment : segments) {
    call_locs_.insert(call_locs_.end(), segment.locs.begin(), segment.locs.end());
  }
  const Loc* locs = up(uploads_.first, call_locs_);
  segments_.clear();
  for (const Segment& segment : segments) {
    const auto count = static_cast<Tokens>(segment.locs.size());
    if (count > 0) {
      segments_.push_back({locs, count});
      locs += count;
    }
  }
  pools_->free_segments(side, segments_);
  return Answer::served;
}

Answer DeviceTwin::free_group_begin() { return pools_->free_group_begin() ? Answer::served : Answer::refused; }

Answer DeviceTwin::free_group_end() { return pools_->free_group_end() ? Answer::served : Answer::refused; }

// ---- the mapping

Answer DeviceTwin::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  if (!geo().hybrid()) {
    return geo().layout == Layout::pure_swa ? Answer::refused : Answer::failed;
  }
  pools_->set_mapping(up(uploads_.first, full), up(uploads_.second, swa), static_cast<std::int64_t>(full.size()));
  return Answer::served;
}

Answer DeviceTwin::clear_full_to_swa_mapping(std::span<const Loc> full) {
  if (!geo().hybrid()) {
    return geo().layout == Layout::pure_swa ? Answer::refused : Answer::failed;
  }
  pools_->clear_mapping(up(uploads_.first, full), static_cast<std::int64_t>(full.size()));
  return Answer::served;
}

Answer DeviceTwin::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  if (geo().layout == Layout::pure_swa) {
    std::copy(full.begin(), full.end(), out.begin());
    return Answer::served;
  }
  if (!geo().hybrid()) {
    return Answer::failed;
  }
  const auto count = static_cast<std::int64_t>(full.size());
  pools_->translate(up(uploads_.first, full), count, room(count));
  out_.download(out);
  return Answer::served;
}

// ---- the whole state

Answer DeviceTwin::clear() {
  pools_->clear();
  slots_.clear();
  return Answer::served;
}

Answer DeviceTwin::resize(Tokens full, Tokens swa) {
  pools_->resize(full, swa);
  slots_.clear();
  return Answer::served;
}

Answer DeviceTwin::backup_state(std::uint32_t key) {
  pools_->backup(key);
  return Answer::served;
}

Answer DeviceTwin::restore_state(std::uint32_t key) { return pools_->restore(key) ? Answer::served : Answer::refused; }

// ---- request slots

Answer DeviceTwin::take_slot(std::int64_t& slot) {
  const std::optional<std::int64_t> taken = slots_.take();
  slot = taken.value_or(-1);
  return taken ? Answer::served : Answer::refused;
}

Answer DeviceTwin::give_slot(std::int64_t slot) {
  slots_.give(slot);
  return Answer::served;
}

// ---- KV

kernels::StampBatch DeviceTwin::stamp_batch(std::span<const Loc> locs, std::int64_t slot, Pos first_pos) {
  kernels::StampBatch batch;
  batch.locs = up(uploads_.first, locs);
  batch.count = static_cast<std::int64_t>(locs.size());
  batch.single = {0, first_pos, slot, 0};
  return batch;
}

Stamp* DeviceTwin::stamp_room(std::size_t count) {
  uploads_.stamps.grow(static_cast<std::int64_t>(count));
  return uploads_.stamps.data();
}

Answer DeviceTwin::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  kernels::StampBatch batch = stamp_batch(full_locs, -1, 0);
  batch.stamps = stamp_room(stamps.size());
  uploads_.stamps.upload(stamps);
  pools_->write_full(batch);
  return Answer::served;
}

Answer DeviceTwin::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  pools_->read_full(stamp_batch(full_locs, -1, 0), stamp_room(out.size()));
  uploads_.stamps.download(out);
  return Answer::served;
}

Answer DeviceTwin::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                             std::span<const Stamp> stamps) {
  if (!geo().sliding()) {
    return Answer::failed;
  }
  kernels::StampBatch batch = stamp_batch(full_locs, slot, first_pos);
  batch.stamps = stamp_room(stamps.size());
  uploads_.stamps.upload(stamps);
  pools_->write_swa(batch);
  return Answer::served;
}

Answer DeviceTwin::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) {
  if (!geo().sliding()) {
    return Answer::failed;
  }
  pools_->read_swa(stamp_batch(full_locs, slot, first_pos), stamp_room(out.size()));
  uploads_.stamps.download(out);
  return Answer::served;
}

// ---- what the checks look at

/// As the device counts: what the host makes of lengths is checked by it, and an error of a launch shows here.
Answer DeviceTwin::gauges(Gauges& out) {
  const DeviceCounters now = pools_->learn();
  const Geometry& g = geo();
  out = Gauges{};
  out.available = out.full_available = (now.full.free + now.full.staged) * g.page;
  out.size = out.full_size = g.full;
  out.slots_free = slots_.free_count();
  out.slots = slots_.count();
  if (g.layout == Layout::pure_swa) {
    out.swa_available = out.full_available;
    out.swa_size = out.full_size;
  }
  if (!g.hybrid()) {
    return Answer::served;
  }
  out.swa_pool_available = (now.swa.free + now.swa.staged) * g.page;
  out.swa_pool_size = g.swa;
  out.swa_available = g.ringed() ? out.slots_free * g.ring_cost() : out.swa_pool_available;
  out.swa_size = g.ringed() ? out.slots * g.ring_cost() : out.swa_pool_size;
  if (!g.ringed()) {
    out.available = std::min(out.full_available, out.swa_available);
  }
  out.size = std::min(out.full_size, out.swa_size);
  out.mapping_tail = pools_->mapping_tail();
  return Answer::served;
}

Answer DeviceTwin::census(Census& out) {
  const Geometry& g = geo();
  if (std::max(g.full, g.swa) > most_tokens_shown && clean(pools_->census())) {
    return Answer::refused;
  }
  pools_->download_lists(Pool::full, out.full);
  pools_->download_lists(Pool::swa, out.swa);
  pools_->download_mapping(mapping_);
  out.mapping = mapping_;
  out.free_slots.assign(slots_.free_list().rbegin(), slots_.free_list().rend());
  return Answer::served;
}

bool DeviceTwin::assign(const Allocator& other) {
  const auto& twin = static_cast<const DeviceTwin&>(other);
  pools_->assign(*twin.pools_);
  slots_ = twin.slots_;
  return true;
}

bool DeviceTwin::digest(StateDigest& out) const {
  pools_->digest(out);
  out.numbers(slots_.free_list());
  return true;
}

std::string DeviceTwin::failure() const {
  return "a pool of layout '" + std::string(layout_name(geo().layout)) + "' does not offer this call";
}

}  // namespace poolproof
