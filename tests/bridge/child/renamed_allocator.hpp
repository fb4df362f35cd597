// The host twin under other names: pages and request slots are numbered backwards. Whoever mistakes the stand-in's locs
// for the implementation's is found out.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/host/host.hpp"

namespace poolproof::testing {

class RenamedAllocator final : public Allocator {
 public:
  RenamedAllocator(const Geometry& geometry, std::unique_ptr<Allocator> inner)
      : geo_(geometry), inner_(std::move(inner)) {}

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override { return nullptr; }
  Answer alloc(Tokens tokens, Locs& out) override { return named(inner_->alloc(tokens, out), out); }
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override {
    return named(inner_->alloc_extend(prefix_lens, seq_lens, full(last_locs), out), out);
  }
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    return named(inner_->alloc_decode(seq_lens, full(last_locs), out), out);
  }
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override {
    return named(inner_->alloc_extend_swa_tail(prefix_len, seq_len, full_name(last_loc), tail_len, tail_end, out), out);
  }
  Answer free(Side side, std::span<const Loc> locs) override { return inner_->free(side, full(locs)); }
  Answer free_segments(Side side, std::span<const Segment> segments) override {
    std::vector<Locs> arrays;
    std::vector<Segment> inside;
    arrays.reserve(segments.size());
    for (const Segment& segment : segments) {
      arrays.push_back(full(segment.locs));
      inside.push_back({arrays.back(), segment.start_pos});
    }
    return inner_->free_segments(side, inside);
  }
  Answer free_group_begin() override { return inner_->free_group_begin(); }
  Answer free_group_end() override { return inner_->free_group_end(); }
  Answer set_full_to_swa_mapping(std::span<const Loc> locs, std::span<const Loc> swa) override {
    return inner_->set_full_to_swa_mapping(full(locs), peers(swa));
  }
  Answer clear_full_to_swa_mapping(std::span<const Loc> locs) override {
    return inner_->clear_full_to_swa_mapping(full(locs));
  }
  Answer translate_loc_from_full_to_swa(std::span<const Loc> locs, std::span<Loc> out) override {
    const Answer answer = inner_->translate_loc_from_full_to_swa(full(locs), out);
    for (Loc& loc : out) {
      loc = peer_name(loc);
    }
    return answer;
  }
  Answer clear() override { return inner_->clear(); }
  Answer resize(Tokens full_tokens, Tokens swa_tokens) override {
    geo_.full = full_tokens;
    geo_.swa = swa_tokens;
    return inner_->resize(full_tokens, swa_tokens);
  }
  Answer backup_state(std::uint32_t key) override { return inner_->backup_state(key); }
  Answer restore_state(std::uint32_t key) override { return inner_->restore_state(key); }
  Answer take_slot(std::int64_t& slot) override {
    const Answer answer = inner_->take_slot(slot);
    slot = answer == Answer::served ? slot_name(slot) : slot;
    return answer;
  }
  Answer give_slot(std::int64_t slot) override { return inner_->give_slot(slot_name(slot)); }
  Answer write_full(std::span<const Loc> locs, std::span<const Stamp> stamps) override {
    return inner_->write_full(full(locs), stamps);
  }
  Answer read_full(std::span<const Loc> locs, std::span<Stamp> out) override {
    return inner_->read_full(full(locs), out);
  }
  Answer write_swa(std::span<const Loc> locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override {
    return inner_->write_swa(full(locs), slot_name(slot), first_pos, stamps);
  }
  Answer read_swa(std::span<const Loc> locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override {
    return inner_->read_swa(full(locs), slot_name(slot), first_pos, out);
  }
  Answer gauges(Gauges& out) override { return inner_->gauges(out); }
  Answer census(Census& out) override {
    const Answer answer = inner_->census(out);
    for (PoolCensus* pool : {&out.full, &out.swa}) {
      const std::int64_t pages = (pool == &out.full ? geo_.full : geo_.swa) / geo_.page;
      for (std::vector<std::int64_t>* list : {&pool->free, &pool->staged, &pool->deferred}) {
        for (std::int64_t& page : *list) {
          page = pages + 1 - page;
        }
      }
    }
    mapping_.assign(out.mapping.begin(), out.mapping.end());
    for (Loc loc = geo_.page; loc < geo_.full + geo_.page && !mapping_.empty(); ++loc) {
      mapping_[static_cast<std::size_t>(full_name(loc))] = peer_name(out.mapping[static_cast<std::size_t>(loc)]);
    }
    out.mapping = mapping_;
    for (std::int64_t& slot : out.free_slots) {
      slot = slot_name(slot);
    }
    return answer;
  }

 private:
  /// Page p of n is page n+1-p, both ways; the padding page and "no loc" stay.
  [[nodiscard]] Loc renamed(Loc loc, Tokens size) const {
    return loc < geo_.page ? loc : (size / geo_.page + 1 - loc / geo_.page) * geo_.page + loc % geo_.page;
  }
  [[nodiscard]] Loc full_name(Loc loc) const { return renamed(loc, geo_.full); }
  [[nodiscard]] std::int64_t slot_name(std::int64_t slot) const { return slot <= 0 ? slot : geo_.reqs + 1 - slot; }
  [[nodiscard]] Loc peer_name(Loc loc) const {
    if (geo_.layout == Layout::pure_swa) {
      return full_name(loc);
    }
    if (geo_.ringed()) {
      return loc <= 0 ? loc : slot_name(loc / geo_.ring) * geo_.ring + loc % geo_.ring;
    }
    return renamed(loc, geo_.swa);
  }
  [[nodiscard]] Locs full(std::span<const Loc> locs) const {
    Locs inside;
    for (const Loc loc : locs) {
      inside.push_back(full_name(loc));
    }
    return inside;
  }
  [[nodiscard]] Locs peers(std::span<const Loc> locs) const {
    Locs inside;
    for (const Loc loc : locs) {
      inside.push_back(peer_name(loc));
    }
    return inside;
  }
  Answer named(Answer answer, Locs& out) const {
    if (answer == Answer::served) {
      for (Loc& loc : out) {
        loc = full_name(loc);
      }
    }
    return answer;
  }

  Geometry geo_;
  std::unique_ptr<Allocator> inner_;
  Locs mapping_;
};

}  // namespace poolproof::testing
