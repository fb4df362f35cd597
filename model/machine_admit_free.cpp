// The caller's side of giving back: what a release touches, and whether all that is touched may go.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

void Machine::State::touch_page(PageRecord& record, Page number, std::vector<Page>& list, std::uint32_t times) const {
  if (record.touch != touch) {
    record.touch = touch;
    record.touches = 0;
    list.push_back(number);
  }
  record.touches += times;
}

/// Pieces of one call in row order, overlaps and neighbours joined: a token named twice counts once.
void Machine::State::normalise_pieces() {
  if (pieces.size() < 2) {
    return;
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return a.row != b.row ? a.row < b.row : a.range.begin < b.range.begin;
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    Piece& last = pieces[kept];
    if (pieces[i].row == last.row && pieces[i].range.begin <= last.range.end) {
      last.range.end = std::max(last.range.end, pieces[i].range.end);
    } else {
      pieces[++kept] = pieces[i];
    }
  }
  pieces.resize(kept + 1);
}

/// Every position of the range is live in the row.
Fault Machine::State::admit_held(Row id, Range range, Rule rule) {
  const RowState& r = row(id);
  for (std::size_t i = index_of(range.begin); i <= index_of(range.end - 1); ++i) {
    const Page entry = i < r.pages.size() ? r.pages[i] : 0;
    if (entry > 0) {
      continue;
    }
    const Pos pos = std::max(range.begin, static_cast<Pos>(i) << shift);
    if (entry < 0) {
      return verdict(rule, static_cast<OpIndex>(-static_cast<std::int64_t>(entry)),
                     fmt::format("r{} gave up position {} at op {}", id, pos, -static_cast<std::int64_t>(entry)));
    }
    return verdict(rule, r.length_op, fmt::format("r{} was never lent position {}", id, pos));
  }
  if (range.end > r.length) {
    return verdict(rule, r.length_op,
                   fmt::format("r{} has {} tokens; position {} is not one of them", id, r.length,
                               std::max(range.begin, r.length)));
  }
  return {};
}

/// The range covers whole pages, as far as the row's tokens go.
Fault Machine::State::admit_whole_pages(Row id, const RowState& r, Range range) {
  const bool cut_before = offset_of(range.begin) != 0;
  const bool cut_after = offset_of(range.end) != 0 && range.end != r.length;
  if (!cut_before && !cut_after) {
    return {};
  }
  const Pos inside = cut_before ? range.begin : range.end;
  const Page number = r.pages[index_of(inside)];
  const Pos page_begin = inside & ~(geo.page - 1);
  Verdict v =
      verdict(Rule::c3, full.at(number).lent_op,
              fmt::format("page {} holds r{}'s positions {}..{}, of which {} stay live", page_name(Pool::full, number),
                          id, page_begin, std::min(r.length, page_begin + geo.page),
                          cut_before ? fmt::format("{}..{}", page_begin, range.begin)
                                     : fmt::format("{}..{}", range.end, std::min(r.length, page_begin + geo.page))));
  add_history(v, Pool::full, number);
  return v;
}

Fault Machine::State::admit_piece(const Piece& piece) {
  if (Fault fault = admit_held(piece.row, piece.range, Rule::c1)) {
    return fault;
  }
  const RowState& r = rows[piece.row];
  if (Fault fault = admit_whole_pages(piece.row, r, piece.range)) {
    return fault;
  }
  for (std::size_t i = index_of(piece.range.begin); i <= index_of(piece.range.end - 1); ++i) {
    touch_page(full.at(r.pages[i]), r.pages[i], touched_full, 1);
  }
  return {};
}

/// C8, for rows that hold a request slot.
Fault Machine::State::admit_window(const Piece& piece) {
  const RowState& r = rows[piece.row];
  if (r.slot < 0) {
    return {};
  }
  const Pos bound = std::max<Pos>(0, r.length - geo.window) & ~(geo.page - 1);
  if (piece.range.end > bound) {
    return verdict(Rule::c8, r.length_op,
                   fmt::format("r{} runs with {} tokens and window {}: eviction may go up to {}, not {}", piece.row,
                               r.length, geo.window, bound, piece.range.end));
  }
  if (piece.range.begin < r.frontier) {
    return verdict(
        Rule::c8, r.evict_op,
        fmt::format("r{} was evicted up to {} already; {} lies behind that", piece.row, r.frontier, piece.range.begin));
  }
  return {};
}

/// Every row that holds a touched page names it.
Fault Machine::State::admit_holders() {
  for (const Page number : touched_full) {
    const PageRecord& record = full.at(number);
    if (record.touches == record.users) {
      continue;
    }
    for (Row id = 0; id < rows.size(); ++id) {
      const RowState& r = rows[id];
      const auto held = std::find(r.pages.begin(), r.pages.end(), number);
      const bool named = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.row == id && held != r.pages.end() &&
               static_cast<std::size_t>(held - r.pages.begin()) >= index_of(piece.range.begin) &&
               static_cast<std::size_t>(held - r.pages.begin()) <= index_of(piece.range.end - 1);
      });
      if (held != r.pages.end() && !named) {
        const Pos begin = static_cast<Pos>(held - r.pages.begin()) << shift;
        Verdict v = verdict(Rule::c3, r.length_op,
                            fmt::format("r{} still holds page {} (positions {}..{})", id, page_name(Pool::full, number),
                                        begin, std::min(r.length, begin + geo.page)));
        add_history(v, Pool::full, number);
        return v;
      }
    }
  }
  return {};
}

/// The SWA side of a release: C5 for free_full, C1 for peers given back already, C3 for an SWA page still in use.
Fault Machine::State::admit_peers(Side side) {
  for (const Page number : touched_full) {
    const Loc first = static_cast<Loc>(number) << shift;
    bool any = false;
    for (Loc loc = first; loc < first + geo.page; ++loc) {
      const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
      if (peer == 0) {
        continue;
      }
      any = true;
      if (side == Side::full) {
        Verdict v =
            verdict(Rule::c5, swa.at(page_of(peer)).lent_op,
                    fmt::format("{} still has its peer {}", loc_name(Pool::full, loc), loc_name(Pool::swa, peer)));
        add_history(v, Pool::full, number);
        add_history(v, Pool::swa, page_of(peer));
        return v;
      }
      touch_page(swa.at(page_of(peer)), page_of(peer), touched_swa, 1);
    }
    const OpIndex freed = full.at(number).peer_freed_op;
    if (side == Side::swa && !any && freed != 0) {
      Verdict v = verdict(
          Rule::c1, freed,
          fmt::format("the SWA peers of page {} were given up at op {} already", page_name(Pool::full, number), freed));
      add_history(v, Pool::full, number);
      return v;
    }
  }
  for (const Page number : touched_swa) {
    const PageRecord& record = swa.at(number);
    if (record.touches != record.users) {
      Verdict v = verdict(Rule::c3, record.lent_op,
                          fmt::format("SWA page {} serves another full page too: {} of its {} mapped slots stay live",
                                      page_name(Pool::swa, number), record.users - record.touches, record.users));
      add_history(v, Pool::swa, number);
      return v;
    }
  }
  return {};
}

/// `pieces` is what the call names. Answers the first rule broken; fills touched_full and touched_swa.
Fault Machine::State::admit_release(Side side) {
  normalise_pieces();
  touched_full.clear();
  touched_swa.clear();
  for (const Piece& piece : pieces) {
    if (Fault fault = admit_piece(piece)) {
      return fault;
    }
    if (side == Side::swa) {
      if (Fault fault = admit_window(piece)) {
        return fault;
      }
    }
  }
  if (geo.layout == Layout::pure_swa && side == Side::full) {
    return {};  // does nothing, so nothing may be left behind
  }
  if (Fault fault = admit_holders()) {
    return fault;
  }
  return geo.paired() ? admit_peers(side) : Fault{};
}

void Machine::State::plan_release(Plan& plan) {
  if (geo.hybrid()) {
    for (const Page number : touched_full) {
      append_page_locs(number, plan.probes);
    }
  }
}

Fault Machine::State::admit(const op::Free& op, Plan& plan) {
  pieces.assign(op.pieces.begin(), op.pieces.end());
  if (Fault fault = admit_release(op.side)) {
    return fault;
  }
  plan.locs.clear();
  for (const Piece& piece : op.pieces) {
    append_locs(rows[piece.row], piece.range, plan.locs);
  }
  plan_release(plan);
  return {};
}

Fault Machine::State::admit(const op::FreeSegment& op, Plan& plan) {
  const RowState& r = row(op.row);
  pieces.clear();
  for (std::size_t i = 0; i < op.ranges.size(); ++i) {
    const Range range = op.ranges[i];
    if (offset_of(range.begin) != 0) {
      return verdict(Rule::c4, r.length_op,
                     fmt::format("the segment {}..{} of r{} starts inside a page of {}", range.begin, range.end, op.row,
                                 geo.page));
    }
    if (i > 0 && index_of(range.begin) <= index_of(op.ranges[i - 1].end - 1)) {
      return verdict(Rule::c4, r.length_op,
                     fmt::format("the segment {}..{} of r{} does not lie on pages after those of {}..{}", range.begin,
                                 range.end, op.row, op.ranges[i - 1].begin, op.ranges[i - 1].end));
    }
    pieces.push_back({op.row, range});
  }
  if (Fault fault = admit_release(op.side)) {
    return fault;
  }
  plan.locs.clear();
  plan.segment_ends.clear();
  plan.segment_starts.clear();
  for (const Range range : op.ranges) {
    append_locs(rows[op.row], range, plan.locs);
    plan.segment_ends.push_back(static_cast<std::uint32_t>(plan.locs.size()));
    plan.segment_starts.push_back(range.begin);
  }
  plan_release(plan);
  return {};
}

}  // namespace poolproof
