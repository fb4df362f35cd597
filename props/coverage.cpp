#include "props/coverage.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "props/feasible.hpp"
#include "props/swarm.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, corner_count> corner_names = {
    "full_exhausted",      "swa_exhausted",        "one_over",
    "exactly_full",        "swa_bound_refusal",    "slot_refused",
    "slot_recycled",       "ring_wrapped",         "tombstone_made",
    "tombstone_recovered", "remap_offset",         "remap_in_group",
    "prefix_shared",       "shared_freed",         "speculation_rejected",
    "page_border",         "window_border",        "alloc_in_group",
    "group_many",          "group_empty",          "duplicate_in_free",
    "partial_last_page",   "restore_after_change", "retract",
};

std::size_t at(OpWord word) { return static_cast<std::size_t>(word); }

/// Calls `take(row, range)` for each range that a lending op appends; `machine` stands before the op. (After it, only
/// the rows are right.)
template <typename Take>
void each_appended(const Op& op, const Machine& machine, const Take& take) {
  if (const auto* extend = std::get_if<op::Extend>(&op)) {
    for (const Piece& piece : extend->pieces) {
      take(piece.row, piece.range);
    }
  } else if (const auto* decode = std::get_if<op::Decode>(&op)) {
    for (const Row row : decode->rows) {
      take(row, Range{machine.row_length(row), machine.row_length(row) + 1});
    }
  } else if (const auto* alloc = std::get_if<op::Alloc>(&op)) {
    take(alloc->row, alloc->range);
  } else if (const auto* tail = std::get_if<op::Tail>(&op)) {
    take(tail->row, tail->range);
  }
}

/// Calls `take(row, range)` for each piece that a free names.
template <typename Take>
void each_released(const Op& op, const Take& take) {
  if (const auto* free = std::get_if<op::Free>(&op)) {
    for (const Piece& piece : free->pieces) {
      take(piece.row, piece.range);
    }
  } else if (const auto* segment = std::get_if<op::FreeSegment>(&op)) {
    for (const Range& range : segment->ranges) {
      take(segment->row, range);
    }
  }
}

bool releases_swa_alone(const Op& op) {
  const OpWord word = word_of(op);
  return word == OpWord::free_swa || word == OpWord::free_swa_segment;
}

bool names_a_page_twice(std::span<const Piece> pieces, const Geometry& g) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = i + 1; j < pieces.size(); ++j) {
      const Piece& a = pieces[i];
      const Piece& b = pieces[j];
      if (a.row == b.row && a.range.begin / g.page < g.pages_of(b.range.end) &&
          b.range.begin / g.page < g.pages_of(a.range.end)) {
        return true;
      }
    }
  }
  return false;
}

Pos window_bound(const Machine& machine, Row row) {
  const Geometry& g = machine.geometry();
  return std::max<Pos>(0, machine.row_length(row) - g.window) / g.page * g.page;
}

}  // namespace

std::string_view corner_name(Corner corner) { return corner_names.at(static_cast<std::size_t>(corner)); }

void Coverage::before(const Op& op, Machine& machine) {
  eve_.full_free = machine.full_free_pages();
  eve_.swa_free = machine.swa_free_pages();
  eve_.group_open = machine.group_open();
  eve_.need_full = 0;
  eve_.need_swa = 0;
  eve_.shared_free = false;
  eve_.window_border = false;
  eve_.running.clear();
  const OpWord word = word_of(op);
  if (word_lends(word)) {
    look_at_need(op, machine);
  } else if (word_frees(word)) {
    look_at_pieces(op, machine);
  }
}

void Coverage::look_at_need(const Op& op, const Machine& machine) {
  const Geometry& g = machine.geometry();
  each_appended(op, machine,
                [&](Row, Range range) { eve_.need_full += g.pages_of(range.end) - g.pages_of(range.begin); });
  if (!g.paired()) {
    return;
  }
  const auto* tail = std::get_if<op::Tail>(&op);
  eve_.need_swa = tail == nullptr ? eve_.need_full : g.pages_of(tail->swa.end) - tail->swa.begin / g.page;
}

void Coverage::look_at_pieces(const Op& op, const Machine& machine) {
  const Geometry& g = machine.geometry();
  const bool swa_alone = releases_swa_alone(op);
  each_released(op, [&](Row row, Range range) {
    for (Pos pos = range.begin; pos < range.end && !eve_.shared_free; pos = (pos / g.page + 1) * g.page) {
      eve_.shared_free = machine.row_holders(row, pos) > 1;
    }
    if (machine.row_has_slot(row)) {
      eve_.running.push_back(row);
      eve_.window_border = eve_.window_border || (swa_alone && range.end == window_bound(machine, row));
    }
  });
}

void Coverage::after(const Op& op, Machine& machine, bool refused) {
  const OpWord word = word_of(op);
  ++(refused ? refused_ : served_)[at(word)];
  if (past_.last_word >= 0) {
    ++pairs_[static_cast<std::size_t>(past_.last_word)][at(word)];
  }
  past_.last_word = static_cast<std::int32_t>(word);
  count_pools(machine);
  count_group(word);
  if (word_lends(word)) {
    count_lending(op, machine, refused);
  } else if (word_frees(word)) {
    count_release(op, machine);
  } else if (word == OpWord::slot) {
    count_slot(machine, refused);
  } else {
    count_state(op);
    count_sharing(op, machine);
  }
}

void Coverage::count_pools(const Machine& machine) {
  hit(Corner::full_exhausted, eve_.full_free > 0 && machine.full_free_pages() == 0);
  hit(Corner::swa_exhausted, machine.geometry().paired() && eve_.swa_free > 0 && machine.swa_free_pages() == 0);
}

void Coverage::count_lending(const Op& op, const Machine& machine, bool refused) {
  const bool paired = machine.geometry().paired();
  const std::int64_t over_full = eve_.need_full - eve_.full_free;
  const std::int64_t over_swa = paired ? eve_.need_swa - eve_.swa_free : over_full;
  if (refused) {
    hit(Corner::one_over, std::max(over_full, over_swa) == 1);
    hit(Corner::swa_bound_refusal, paired && over_full <= 0 && over_swa > 0);
    return;
  }
  ++past_.changes;
  hit(Corner::exactly_full, (over_full == 0 && eve_.need_full > 0) || (paired && over_swa == 0 && eve_.need_swa > 0));
  hit(Corner::alloc_in_group, eve_.group_open);
  each_appended(op, machine, [&](Row row, Range) {
    hit(Corner::page_border, machine.row_length(row) % machine.geometry().page == 0);
    hit(Corner::retract, std::erase(past_.retracted, row) > 0);
  });
}

void Coverage::count_release(const Op& op, const Machine& machine) {
  ++past_.changes;
  ++past_.group_frees;
  const Geometry& g = machine.geometry();
  hit(Corner::shared_freed, eve_.shared_free);
  hit(Corner::window_border, eve_.window_border);
  hit(Corner::tombstone_made, g.paired() && releases_swa_alone(op));
  if (const auto* free = std::get_if<op::Free>(&op)) {
    hit(Corner::duplicate_in_free, names_a_page_twice(free->pieces, g));
  } else if (const auto* segment = std::get_if<op::FreeSegment>(&op)) {
    hit(Corner::partial_last_page, segment->ranges.back().end % g.page != 0);
  }
  for (const Row row : eve_.running) {
    if (machine.row_length(row) == 0 &&
        std::find(past_.retracted.begin(), past_.retracted.end(), row) == past_.retracted.end()) {
      past_.retracted.push_back(row);
    }
  }
}

void Coverage::count_group(OpWord word) {
  if (word == OpWord::group_begin) {
    past_.group_frees = 0;
  } else if (word == OpWord::group_end) {
    hit(Corner::group_many, past_.group_frees >= 3);
    hit(Corner::group_empty, past_.group_frees == 0);
  }
}

void Coverage::count_slot(const Machine& machine, bool refused) {
  hit(Corner::slot_refused, refused);
  if (refused) {
    return;
  }
  hit(Corner::slot_recycled, past_.slots_taken >= machine.geometry().reqs);
  ++past_.slots_taken;
}

void Coverage::count_state(const Op& op) {
  if (word_empties(word_of(op))) {
    const std::int32_t word = past_.last_word;
    past_ = {};
    past_.last_word = word;
  } else if (const auto* backup = std::get_if<op::Backup>(&op)) {
    std::erase_if(past_.backups, [&](const auto& one) { return one.first == backup->name; });
    past_.backups.emplace_back(backup->name, past_.changes);
  } else if (const auto* restore = std::get_if<op::Restore>(&op)) {
    const auto found = std::find_if(past_.backups.begin(), past_.backups.end(),
                                    [&](const auto& one) { return one.first == restore->name; });
    hit(Corner::restore_after_change, found != past_.backups.end() && found->second != past_.changes);
    past_.retracted.clear();
  }
}

void Coverage::count_sharing(const Op& op, const Machine& machine) {
  const Geometry& g = machine.geometry();
  hit(Corner::prefix_shared, std::holds_alternative<op::Copy>(op));
  hit(Corner::speculation_rejected, std::holds_alternative<op::Trim>(op));
  if (const auto* write = std::get_if<op::Write>(&op)) {
    hit(Corner::ring_wrapped, g.ringed() && write->range.end > g.ring);
  }
  if (const auto* remap = std::get_if<op::Remap>(&op)) {
    ++past_.changes;
    hit(Corner::tombstone_recovered, g.paired());
    hit(Corner::remap_offset, g.paired() && remap->range.begin % g.page != remap->from_begin % g.page);
    hit(Corner::remap_in_group, eve_.group_open);
  }
}

void Coverage::new_trace(const Geometry& geometry, const OpWords& offered) {
  past_ = {};
  note_kind(geometry, offered);
}

void Coverage::note_kind(const Geometry& geometry, const OpWords& offered) {
  const bool known = std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& seen) {
    return same_kind(seen.geometry, geometry) && seen.offered == offered;
  });
  if (!known) {
    kinds_.push_back({geometry, offered});
  }
}

void Coverage::merge(const Coverage& other) {
  for (std::size_t i = 0; i < op_word_count; ++i) {
    served_[i] += other.served_[i];
    refused_[i] += other.refused_[i];
    for (std::size_t j = 0; j < op_word_count; ++j) {
      pairs_[i][j] += other.pairs_[i][j];
    }
  }
  for (std::size_t i = 0; i < corner_count; ++i) {
    corners_[i] += other.corners_[i];
  }
  for (const Kind& kind : other.kinds_) {
    note_kind(kind.geometry, kind.offered);
  }
}

std::uint64_t Coverage::ops() const {
  return std::accumulate(served_.begin(), served_.end(), std::uint64_t{0}) +
         std::accumulate(refused_.begin(), refused_.end(), std::uint64_t{0});
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> all;
  const auto feasible = [&](const auto& can) { return std::any_of(kinds_.begin(), kinds_.end(), can); };
  const auto offers = [](const Kind& kind, OpWord word) { return kind.offered.test(at(word)); };
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    const std::string name(op_word_name(word));
    if (served_[i] == 0 &&
        feasible([&](const Kind& kind) { return offers(kind, word) && service_feasible(word, kind.geometry); })) {
      all.push_back(name);
    }
    if (refused_[i] == 0 &&
        feasible([&](const Kind& kind) { return offers(kind, word) && refusal_feasible(word, kind.geometry); })) {
      all.push_back(name + " refused");
    }
    for (std::size_t j = 0; j < op_word_count; ++j) {
      const auto second = static_cast<OpWord>(j);
      if (pairs_[i][j] == 0 && feasible([&](const Kind& kind) {
            return offers(kind, word) && offers(kind, second) && pair_feasible(word, second, kind.geometry);
          })) {
        all.push_back("pair " + name + " -> " + std::string(op_word_name(second)));
      }
    }
  }
  for (std::size_t i = 0; i < corner_count; ++i) {
    const auto corner = static_cast<Corner>(i);
    if (corners_[i] == 0 && feasible([&](const Kind& kind) {
          return corner_feasible(corner, kind.geometry) && corner_offered(corner, kind.offered);
        })) {
      all.push_back("corner " + std::string(corner_name(corner)));
    }
  }
  return all;
}

}  // namespace poolproof
