// The caller's side of lending, request slots, groups, snapshots: protocol rules, and the call's arguments.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

// ---- request slots

Fault Machine::State::admit(const op::SlotTake& op, Plan& plan) {
  const RowState& r = row(op.row);
  if (r.slot >= 0) {
    return verdict(Rule::c9, r.slot_op, fmt::format("r{} holds request slot {} already", op.row, r.slot));
  }
  plan.fits = slots_free > 0;
  return {};
}

Fault Machine::State::admit(const op::SlotGive& op, Plan& plan) {
  const RowState& r = row(op.row);
  if (r.slot < 0) {
    return verdict(Rule::c9, r.slot_op,
                   r.slot_op == 0 ? fmt::format("r{} never took a request slot", op.row)
                                  : fmt::format("r{} holds no request slot any more", op.row));
  }
  plan.slot = r.slot;
  return {};
}

// ---- lending

/// A lending goes on from the row's end, and a batch names each row once.
Fault Machine::State::admit_row_end(Row id, Pos begin) {
  RowState& r = row(id);
  if (r.touch == touch) {
    return verdict(Rule::c7, 0, fmt::format("r{} stands twice in one batch", id));
  }
  r.touch = touch;
  if (begin != r.length) {
    return verdict(Rule::c7, r.length_op,
                   fmt::format("r{} has {} tokens, the op goes on from position {}", id, r.length, begin));
  }
  return {};
}

/// C7 for SWA: the last loc's peer is live, sits at the same page offset, and the rest of its page is nobody else's.
Fault Machine::State::admit_tail_peer(Row id, const RowState& r) {
  if (!geo.paired() || r.length == 0) {
    return {};
  }
  const Loc last = loc_of(r, r.length - 1);
  const Loc peer = peers[static_cast<std::size_t>(last)];
  if (peer == 0) {
    const PageRecord& record = full.at(page_of(last));
    Verdict v = verdict(Rule::c7, record.peer_freed_op != 0 ? record.peer_freed_op : record.lent_op,
                        fmt::format("r{} is extended from a tombstone: position {} ({}) has no SWA peer", id,
                                    r.length - 1, loc_name(Pool::full, last)));
    add_history(v, Pool::full, page_of(last));
    return v;
  }
  const PageRecord& swa_record = swa.at(page_of(peer));
  if (!swa_record.mixed) {
    return {};
  }
  const Loc first = last & ~(geo.page - 1);
  const auto own =
      static_cast<std::uint32_t>(std::count_if(peers.begin() + first, peers.begin() + first + geo.page,
                                               [&](std::int32_t p) { return p != 0 && page_of(p) == page_of(peer); }));
  if (offset_of(peer) == offset_of(last) && own == swa_record.users) {
    return {};
  }
  Verdict v = verdict(Rule::c7, full.at(page_of(last)).lent_op,
                      fmt::format("r{} cannot go on inside SWA page {}: its peer sits at another offset there, or "
                                  "another full page uses the page too",
                                  id, page_name(Pool::swa, page_of(peer))));
  add_history(v, Pool::swa, page_of(peer));
  return v;
}

void Machine::State::plan_lending(const Lending& lending, const RowState& r, Plan& plan) {
  lendings.push_back(lending);
  need_full += geo.pages_of(lending.end) - geo.pages_of(lending.begin);
  if (geo.paired()) {
    need_swa += geo.pages_of(lending.swa_end) - geo.pages_of(lending.swa_begin);
  }
  plan.prefix_lens.push_back(lending.begin);
  plan.seq_lens.push_back(lending.end);
  plan.last_locs.push_back(lending.begin == 0 ? Loc{-1} : loc_of(r, lending.begin - 1));
  plan.tokens += lending.end - lending.begin;
}

namespace {

void clear_lending_plan(Plan& plan) {
  plan.prefix_lens.clear();
  plan.seq_lens.clear();
  plan.last_locs.clear();
  plan.tokens = 0;
}

}  // namespace

void Machine::State::finish_lending_plan(Plan& plan) const {
  plan.fits = need_full <= full.free_pages && need_swa <= swa.free_pages;
}

Fault Machine::State::admit(const op::Alloc& op, Plan& plan) {
  if (Fault fault = admit_row_end(op.row, op.range.begin)) {
    return fault;
  }
  const RowState& r = rows[op.row];
  if (offset_of(op.range.begin) != 0) {
    return verdict(Rule::c7, r.length_op,
                   fmt::format("alloc hands out whole pages; r{} ends inside one, at {}", op.row, op.range.begin));
  }
  clear_lending_plan(plan);
  lendings.clear();
  need_full = need_swa = 0;
  plan_lending({op.row, op.range.begin, op.range.end, op.range.begin, op.range.end, false}, r, plan);
  finish_lending_plan(plan);
  return {};
}

Fault Machine::State::admit(const op::Extend& op, Plan& plan) {
  clear_lending_plan(plan);
  lendings.clear();
  need_full = need_swa = 0;
  for (const Piece& piece : op.pieces) {
    Fault fault = admit_row_end(piece.row, piece.range.begin);
    if (!fault) {
      fault = admit_tail_peer(piece.row, rows[piece.row]);
    }
    if (fault) {
      return fault;
    }
    const Range range = piece.range;
    plan_lending({piece.row, range.begin, range.end, range.begin, range.end, true}, rows[piece.row], plan);
  }
  finish_lending_plan(plan);
  return {};
}

Fault Machine::State::admit(const op::Decode& op, Plan& plan) {
  clear_lending_plan(plan);
  lendings.clear();
  need_full = need_swa = 0;
  for (const Row id : op.rows) {
    const Pos end = row(id).length;
    Fault fault = admit_row_end(id, end);
    if (!fault) {
      fault = admit_tail_peer(id, rows[id]);
    }
    if (fault) {
      return fault;
    }
    plan_lending({id, end, end + 1, end, end + 1, true}, rows[id], plan);
  }
  finish_lending_plan(plan);
  return {};
}

Fault Machine::State::admit(const op::Tail& op, Plan& plan) {
  if (Fault fault = admit_row_end(op.row, op.range.begin)) {
    return fault;
  }
  clear_lending_plan(plan);
  lendings.clear();
  need_full = need_swa = 0;
  plan_lending({op.row, op.range.begin, op.range.end, op.swa.begin, op.swa.end, false}, rows[op.row], plan);
  finish_lending_plan(plan);
  return {};
}

// ---- groups, snapshots, the whole state

Fault Machine::State::admit(const op::GroupBegin& op, Plan& plan) {
  plan.fits = !group_open;
  if (group_open && !op.again) {
    return verdict(Rule::c6, group_op, "a free group is opened while one is open");
  }
  if (!group_open && op.again) {
    return verdict(Rule::c6, group_op, "`group_begin again` probes an open group, and none is open");
  }
  return {};
}

Fault Machine::State::admit(const op::GroupEnd& op, Plan& plan) {
  plan.fits = group_open;
  if (!group_open && !op.again) {
    return verdict(Rule::c6, group_op, "a free group is ended and none is open");
  }
  if (group_open && op.again) {
    return verdict(Rule::c6, group_op, "`group_end again` probes a closed group, and one is open");
  }
  if (geo.hybrid()) {
    for (const Page page : group_pages) {
      append_page_locs(page, plan.probes);
    }
  }
  return {};
}

Fault Machine::State::admit_no_group(const char* what) const {
  if (group_open) {
    return verdict(Rule::c6, group_op, fmt::format("{} inside an open free group", what));
  }
  return {};
}

Fault Machine::State::admit(const op::Backup&, Plan&) { return admit_no_group("backup"); }
Fault Machine::State::admit(const op::Clear&, Plan&) { return admit_no_group("clear"); }
Fault Machine::State::admit(const op::Resize&, Plan&) { return admit_no_group("resize"); }

Fault Machine::State::admit(const op::Restore& op, Plan&) {
  if (Fault fault = admit_no_group("restore")) {
    return fault;
  }
  const bool known = std::any_of(snapshots.begin(), snapshots.end(),
                                 [&](const Snapshot& snapshot) { return snapshot.name == op.name; });
  if (!known) {
    return verdict(Rule::c6, 0, fmt::format("b{} was not backed up (clear and resize forget backups)", op.name));
  }
  return {};
}

Fault Machine::State::admit(const op::Expect&, Plan&) { return {}; }

}  // namespace poolproof
