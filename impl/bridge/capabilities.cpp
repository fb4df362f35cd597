#include "impl/bridge/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace poolproof {
namespace {

constexpr std::array<std::string_view, offer_count> offer_names = {
    "alloc",
    "alloc_extend",
    "alloc_decode",
    "alloc_extend_swa_tail",
    "free",
    "free_swa",
    "free_full",
    "free_segments",
    "free_swa_segments",
    "free_full_segments",
    "free_duplicates",
    "free_tombstones",
    "free_group",
    "free_group_probe",
    "mapping",
    "translate",
    "clear",
    "resize",
    "snapshot",
    "slots",
    "stamps",
    "census",
};

/// Does a set-shaped free name one position's page twice: in two pieces of a row, or by two rows that share it?
bool names_a_page_twice(const op::Free& op, const Machine& machine) {
  const Tokens page = machine.geometry().page;
  for (std::size_t i = 0; i < op.pieces.size(); ++i) {
    const Piece& piece = op.pieces[i];
    for (std::size_t j = 0; j < i; ++j) {
      const Piece& other = op.pieces[j];
      const bool apart = piece.range.begin / page > (other.range.end - 1) / page ||
                         other.range.begin / page > (piece.range.end - 1) / page;
      if (other.row == piece.row && !apart) {
        return true;
      }
    }
    for (Pos pos = piece.range.begin; pos < piece.range.end; ++pos) {
      if (machine.row_holders(piece.row, pos) > 1) {
        return true;  // all holders are named by the call
      }
    }
  }
  return false;
}

bool names_a_tombstone(Row row, const Range& range, const Machine& machine) {
  for (Pos pos = range.begin; pos < range.end; ++pos) {
    if (machine.row_live(row, pos) && !machine.row_peer_live(row, pos)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool takes(const Offers& offers, const Op& op, const Machine& machine) {
  if (const auto* free = std::get_if<op::Free>(&op)) {
    if (!has(offers, Offer::free_duplicates) && names_a_page_twice(*free, machine)) {
      return false;
    }
    return has(offers, Offer::free_tombstones) || free->side != Side::both || !machine.geometry().paired() ||
           std::none_of(free->pieces.begin(), free->pieces.end(),
                        [&](const Piece& piece) { return names_a_tombstone(piece.row, piece.range, machine); });
  }
  if (const auto* segment = std::get_if<op::FreeSegment>(&op)) {
    return has(offers, Offer::free_tombstones) || segment->side != Side::both || !machine.geometry().paired() ||
           std::none_of(segment->ranges.begin(), segment->ranges.end(),
                        [&](const Range& range) { return names_a_tombstone(segment->row, range, machine); });
  }
  return true;
}

std::string_view offer_name(Offer offer) { return offer_names.at(static_cast<std::size_t>(offer)); }

bool PoolKind::fits(const Geometry& g) const {
  return g.layout == layout && g.page >= page_min && g.page <= page_max && (g.ringed() ? ring_on : ring_off) &&
         (g.need_sort ? sort_on : sort_off);
}

const PoolKind* Capabilities::kind_for(const Geometry& g) const {
  if (!g.kv.none()) {
    return nullptr;  // the protocol has no calls for the memory behind the pools
  }
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const PoolKind& kind) { return kind.fits(g); });
  return found == pools.end() ? nullptr : &*found;
}

std::string missing_offer(const PoolKind& kind) {
  std::vector<Offer> needed{Offer::alloc_extend, Offer::free};
  if (kind.layout == Layout::hybrid) {
    needed.push_back(Offer::translate);
  }
  if (kind.ring_on) {
    needed.push_back(Offer::slots);
  }
  for (const Offer offer : needed) {
    if (!has(kind.offers, offer)) {
      return fmt::format("a pool of layout {}{} must offer '{}' among its `calls`", layout_name(kind.layout),
                         kind.ring_on ? " with a ring" : "", offer_name(offer));
    }
  }
  return {};
}

std::vector<WordNeed> word_needs() {
  using W = OpWord;
  return {{W::alloc, Offer::alloc},
          {W::extend, Offer::alloc_extend},
          {W::decode, Offer::alloc_decode},
          {W::tail, Offer::alloc_extend_swa_tail},
          {W::free, Offer::free},
          {W::free_swa, Offer::free_swa},
          {W::free_full, Offer::free_full},
          {W::free_segment, Offer::free_segments},
          {W::free_swa_segment, Offer::free_swa_segments},
          {W::free_full_segment, Offer::free_full_segments},
          {W::group_begin, Offer::free_group},
          {W::group_end, Offer::free_group},
          {W::group_begin_again, Offer::free_group_probe},
          {W::group_end_again, Offer::free_group_probe},
          {W::remap, Offer::mapping},
          {W::unmap, Offer::mapping},
          {W::clear, Offer::clear},
          {W::resize, Offer::resize},
          {W::backup, Offer::snapshot},
          {W::restore, Offer::snapshot}};
}

OpWords words_of(const Offers& offers) {
  OpWords words;
  words.set();
  for (const WordNeed& need : word_needs()) {
    words.set(static_cast<std::size_t>(need.word), has(offers, need.offer));
  }
  return words;
}

}  // namespace poolproof
