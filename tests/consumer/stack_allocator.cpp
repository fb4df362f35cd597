#include "stack_allocator.hpp"

#include <algorithm>

namespace consumer {

using poolproof::Answer;
using poolproof::Loc;
using poolproof::Locs;
using poolproof::Pos;
using poolproof::Side;
using poolproof::Stamp;
using poolproof::Tokens;

StackAllocator::StackAllocator(const poolproof::Geometry& geometry, Plant plant) : geometry_(geometry), plant_(plant) {
  clear();
}

std::unique_ptr<poolproof::Allocator> StackAllocator::clone() const { return std::make_unique<StackAllocator>(*this); }

bool StackAllocator::lend(Pos prefix_len, Pos seq_len, Loc last_loc, Locs& out) {
  Loc next = last_loc + 1;
  for (Pos position = prefix_len; position < seq_len; ++position) {
    if (position % geometry_.page == 0) {
      if (stack_.empty()) return false;
      next = stack_.back() * geometry_.page;
      stack_.pop_back();
    }
    out.push_back(next++);
  }
  return true;
}

Answer StackAllocator::alloc(Tokens tokens, Locs& out) {
  if (geometry_.pages_of(tokens) > static_cast<std::int64_t>(stack_.size())) return Answer::refused;
  out.clear();
  lend(0, tokens, -1, out);
  return Answer::served;
}

Answer StackAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                    std::span<const Loc> last_locs, Locs& out) {
  const std::vector<std::int64_t> before = stack_;
  out.clear();
  for (std::size_t i = 0; i < seq_lens.size(); ++i) {
    if (lend(prefix_lens[i], seq_lens[i], last_locs[i], out)) continue;
    if (plant_ != Plant::keeps_pages_of_refused_batch) stack_ = before;
    return Answer::refused;
  }
  return Answer::served;
}

Answer StackAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  std::vector<Pos> prefix_lens(seq_lens.begin(), seq_lens.end());
  for (Pos& length : prefix_lens) --length;
  return alloc_extend(prefix_lens, seq_lens, last_locs, out);
}

Answer StackAllocator::free(Side side, std::span<const Loc> locs) {
  if (side == Side::swa) return unoffered("free_swa");
  std::vector<std::int64_t> pages(locs.begin(), locs.end());
  for (std::int64_t& page : pages) page /= geometry_.page;
  give_back(std::move(pages));
  return Answer::served;
}

Answer StackAllocator::free_segments(Side side, std::span<const poolproof::Segment> segments) {
  if (side == Side::swa) return unoffered("free_swa_segment");
  std::vector<std::int64_t> pages;
  for (const poolproof::Segment& segment : segments) {
    for (const Loc loc : segment.locs) pages.push_back(loc / geometry_.page);
  }
  give_back(std::move(pages));
  return Answer::served;
}

void StackAllocator::give_back(std::vector<std::int64_t> pages) {
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  std::vector<std::int64_t>& target = group_open_ ? deferred_ : stack_;
  target.insert(target.end(), pages.begin(), pages.end());
}

Answer StackAllocator::free_group_begin() {
  if (group_open_) return Answer::refused;
  group_open_ = true;
  return Answer::served;
}

Answer StackAllocator::free_group_end() {
  if (!group_open_) return Answer::refused;
  group_open_ = false;
  stack_.insert(stack_.end(), deferred_.begin(), deferred_.end());
  deferred_.clear();
  return Answer::served;
}

Answer StackAllocator::clear() {
  stack_.clear();
  for (std::int64_t page = geometry_.full_pages(); page >= 1; --page) stack_.push_back(page);
  free_slots_.clear();
  for (std::int64_t slot = geometry_.reqs; slot >= 1; --slot) free_slots_.push_back(slot);
  deferred_.clear();
  group_open_ = false;
  backups_.clear();
  kv_.assign(static_cast<std::size_t>(geometry_.full + geometry_.page), 0);
  return Answer::served;
}

Answer StackAllocator::resize(Tokens full, Tokens /*swa*/) {
  geometry_.full = full;
  return clear();
}

Answer StackAllocator::backup_state(std::uint32_t key) {
  backups_[key] = stack_;
  return Answer::served;
}

Answer StackAllocator::restore_state(std::uint32_t key) {
  const auto found = backups_.find(key);
  if (found == backups_.end()) return Answer::refused;
  stack_ = found->second;
  return Answer::served;
}

Answer StackAllocator::take_slot(std::int64_t& slot) {
  if (free_slots_.empty()) return Answer::refused;
  slot = free_slots_.back();
  free_slots_.pop_back();
  return Answer::served;
}

Answer StackAllocator::give_slot(std::int64_t slot) {
  free_slots_.push_back(slot);
  return Answer::served;
}

Answer StackAllocator::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) kv_[static_cast<std::size_t>(full_locs[i])] = stamps[i];
  return Answer::served;
}

Answer StackAllocator::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  for (std::size_t i = 0; i < full_locs.size(); ++i) out[i] = kv_[static_cast<std::size_t>(full_locs[i])];
  return Answer::served;
}

Answer StackAllocator::gauges(poolproof::Gauges& out) {
  out = {};
  out.available = static_cast<Tokens>(stack_.size()) * geometry_.page;
  out.size = geometry_.full;
  out.full_available = out.available;
  out.full_size = out.size;
  out.slots_free = static_cast<std::int64_t>(free_slots_.size());
  out.slots = geometry_.reqs;
  return Answer::served;
}

Answer StackAllocator::census(poolproof::Census& out) {
  out = {};
  out.full.free.assign(stack_.rbegin(), stack_.rend());
  out.full.deferred = deferred_;
  out.free_slots = free_slots_;
  return Answer::served;
}

Answer StackAllocator::unoffered(const char* call) {
  failure_ = std::string(call) + ": a pool of full attention alone has no SWA side";
  return Answer::failed;
}

Answer StackAllocator::alloc_extend_swa_tail(Pos /*prefix_len*/, Pos /*seq_len*/, Loc /*last_loc*/, Tokens /*tail_len*/,
                                             Pos /*tail_end*/, Locs& /*out*/) {
  return unoffered("alloc_extend_swa_tail");
}

Answer StackAllocator::set_full_to_swa_mapping(std::span<const Loc> /*full*/, std::span<const Loc> /*swa*/) {
  return unoffered("set_full_to_swa_mapping");
}

Answer StackAllocator::clear_full_to_swa_mapping(std::span<const Loc> /*full*/) {
  return unoffered("clear_full_to_swa_mapping");
}

Answer StackAllocator::translate_loc_from_full_to_swa(std::span<const Loc> /*full*/, std::span<Loc> /*out*/) {
  return unoffered("translate_loc_from_full_to_swa");
}

Answer StackAllocator::write_swa(std::span<const Loc> /*full_locs*/, std::int64_t /*slot*/, Pos /*first_pos*/,
                                 std::span<const Stamp> /*stamps*/) {
  return unoffered("write_swa");
}

Answer StackAllocator::read_swa(std::span<const Loc> /*full_locs*/, std::int64_t /*slot*/, Pos /*first_pos*/,
                                std::span<Stamp> /*out*/) {
  return unoffered("read_swa");
}

}  // namespace consumer
