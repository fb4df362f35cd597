// The caller's side of sharing, load-back and KV data.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

// ---- sharing

Fault Machine::State::admit(const op::Copy& op, Plan&) {
  if (Fault fault = admit_row_end(op.to, op.range.begin)) {
    return fault;
  }
  if (offset_of(op.range.begin) != 0) {
    return verdict(Rule::c3, rows[op.to].length_op,
                   fmt::format("r{} ends inside a page; only whole pages are shared", op.to));
  }
  if (Fault fault = admit_held(op.from, op.range, Rule::c2)) {
    return fault;
  }
  if (offset_of(op.range.end) != 0) {
    return verdict(Rule::c3, row(op.from).length_op,
                   fmt::format("{} lies inside a page of r{}; only whole pages are shared", op.range.end, op.from));
  }
  return {};
}

Fault Machine::State::admit(const op::Drop& op, Plan&) {
  if (Fault fault = admit_held(op.row, op.range, Rule::c1)) {
    return fault;
  }
  const RowState& r = rows[op.row];
  if (Fault fault = admit_whole_pages(op.row, r, op.range)) {
    return fault;
  }
  for (std::size_t i = index_of(op.range.begin); i <= index_of(op.range.end - 1); ++i) {
    if (full.at(r.pages[i]).users == 1) {
      Verdict v = verdict(Rule::c1, full.at(r.pages[i]).lent_op,
                          fmt::format("r{} is the last to hold page {}, which would never be given back", op.row,
                                      page_name(Pool::full, r.pages[i])));
      add_history(v, Pool::full, r.pages[i]);
      return v;
    }
  }
  return {};
}

Fault Machine::State::admit(const op::Trim& op, Plan&) {
  const RowState& r = row(op.row);
  if (op.length == r.length) {
    return {};  // every speculative token was accepted
  }
  if (op.length > r.length) {
    return verdict(
        Rule::c10, r.length_op,
        fmt::format("r{} has {} tokens: there is no position {} to reject from", op.row, r.length, op.length));
  }
  if (geo.pages_of(op.length) != geo.pages_of(r.length)) {
    const Page last = r.pages[index_of(r.length - 1)];
    Verdict v = verdict(
        Rule::c10, full.at(last).lent_op,
        fmt::format("rejecting r{}'s tokens from {} on leaves whole pages lent; free them first", op.row, op.length));
    add_history(v, Pool::full, last);
    return v;
  }
  const Page last = r.pages[index_of(r.length - 1)];
  if (full.at(last).users > 1) {
    Verdict v = verdict(Rule::c3, full.at(last).lent_op,
                        fmt::format("page {} is shared; its tokens cannot be rejected by r{} alone",
                                    page_name(Pool::full, last), op.row));
    add_history(v, Pool::full, last);
    return v;
  }
  return {};
}

// ---- load-back

Fault Machine::State::admit(const op::Remap& op, Plan& plan) {
  const Range donor{op.from_begin, op.from_begin + op.range.size()};
  if (Fault fault = admit_held(op.to, op.range, Rule::c2)) {
    return fault;
  }
  if (Fault fault = admit_held(op.from, donor, Rule::c2)) {
    return fault;
  }
  const RowState& to = rows[op.to];
  const RowState& from = rows[op.from];
  if (Fault fault = admit_whole_pages(op.to, to, op.range)) {
    return fault;
  }
  plan.locs.clear();
  plan.peers.clear();
  plan.donors.clear();
  append_locs(to, op.range, plan.locs);
  touched_full.clear();
  for (std::size_t i = index_of(op.range.begin); i <= index_of(op.range.end - 1); ++i) {
    touch_page(full.at(to.pages[i]), to.pages[i], touched_full, 1);
  }
  if (geo.ringed()) {
    if (from.slot < 0) {
      return verdict(Rule::c9, from.slot_op, fmt::format("r{} holds no request slot, so it has no ring rows", op.from));
    }
    for (Pos pos = donor.begin; pos < donor.end; ++pos) {
      plan.peers.push_back(from.slot * geo.ring + pos % geo.ring);
    }
    plan_release(plan);
    return {};
  }
  if (Fault fault = admit_remap_target(op)) {
    return fault;
  }
  append_locs(from, donor, plan.donors);
  if (Fault fault = admit_remap_donor(op, plan)) {
    return fault;
  }
  for (const Loc loc : plan.donors) {
    plan.peers.push_back(peers[static_cast<std::size_t>(loc)]);
    touch_page(full.at(page_of(loc)), page_of(loc), touched_full, 1);
  }
  plan_release(plan);
  return {};
}

/// No slot of the target's pages has a live peer: it would be orphaned.
Fault Machine::State::admit_remap_target(const op::Remap& op) {
  for (const Page number : touched_full) {
    const Loc first = static_cast<Loc>(number) << shift;
    for (Loc loc = first; loc < first + geo.page; ++loc) {
      const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
      if (peer != 0) {
        Verdict v = verdict(Rule::c1, swa.at(page_of(peer)).lent_op,
                            fmt::format("r{}'s {} still has its peer {}, which could never be given back", op.to,
                                        loc_name(Pool::full, loc), loc_name(Pool::swa, peer)));
        add_history(v, Pool::full, number);
        add_history(v, Pool::swa, page_of(peer));
        return v;
      }
    }
  }
  return {};
}

/// Every donor loc has a peer to give, and no other row holds its page.
Fault Machine::State::admit_remap_donor(const op::Remap& op, const Plan& plan) {
  for (const Loc loc : plan.donors) {
    const PageRecord& record = full.at(page_of(loc));
    if (peers[static_cast<std::size_t>(loc)] == 0) {
      Verdict v = verdict(Rule::c2, record.peer_freed_op != 0 ? record.peer_freed_op : record.lent_op,
                          fmt::format("r{}'s {} has no peer to hand over", op.from, loc_name(Pool::full, loc)));
      add_history(v, Pool::full, page_of(loc));
      return v;
    }
    if (record.users > 1) {
      Verdict v = verdict(Rule::c3, record.lent_op,
                          fmt::format("page {} is shared: its peers are not r{}'s alone to hand over",
                                      page_name(Pool::full, page_of(loc)), op.from));
      add_history(v, Pool::full, page_of(loc));
      return v;
    }
  }
  return {};
}

Fault Machine::State::admit(const op::Unmap& op, Plan& plan) {
  if (Fault fault = admit_held(op.row, op.range, Rule::c2)) {
    return fault;
  }
  const RowState& r = rows[op.row];
  plan.locs.clear();
  append_locs(r, op.range, plan.locs);
  if (geo.paired()) {
    for (const Loc loc : plan.locs) {
      const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
      if (peer != 0) {
        Verdict v = verdict(Rule::c1, swa.at(page_of(peer)).lent_op,
                            fmt::format("r{}'s {} still has its peer {}, which could never be given back", op.row,
                                        loc_name(Pool::full, loc), loc_name(Pool::swa, peer)));
        add_history(v, Pool::swa, page_of(peer));
        return v;
      }
    }
  }
  plan.probes.assign(plan.locs.begin(), plan.locs.end());
  return {};
}

// ---- KV data

Fault Machine::State::admit(const op::Write& op, Plan& plan) {
  if (Fault fault = admit_memory("write")) {
    return fault;
  }
  if (Fault fault = admit_held(op.row, op.range, Rule::c2)) {
    return fault;
  }
  const RowState& r = rows[op.row];
  if (geo.ringed() && r.slot < 0) {
    return verdict(Rule::c9, r.slot_op,
                   fmt::format("r{} holds no request slot, so it has no ring to write to", op.row));
  }
  plan.locs.clear();
  plan.full_stamps.clear();
  plan.swa_stamps.clear();
  plan.slot = r.slot;
  plan.first_pos = op.range.begin;
  append_locs(r, op.range, plan.locs);
  Pos pos = op.range.begin;
  for (const Loc loc : plan.locs) {
    plan.full_stamps.push_back(make_stamp(full.at(page_of(loc)).generation, pos, StampKind::full));
    if (geo.hybrid()) {
      plan.swa_stamps.push_back(geo.ringed() ? make_stamp(r.generation, pos, StampKind::ring)
                                             : peer_stamp(peers[static_cast<std::size_t>(loc)], pos));
    }
    ++pos;
  }
  return {};
}

/// The stamp that SWA storage of this peer holds once written. Peer 0 is the padding slot, nobody's.
Stamp Machine::State::peer_stamp(std::int32_t peer, Pos pos) const {
  if (peer == 0) {
    return make_stamp(0, pos, StampKind::swa);
  }
  const PageRecord& record = swa.at(page_of(peer));
  return make_stamp(record.generation, (static_cast<Pos>(record.base) << shift) + offset_of(peer), StampKind::swa);
}

Fault Machine::State::admit_read_full(const op::Read& op, const RowState& r, Plan& plan) {
  append_locs(r, op.range, plan.locs);
  Pos pos = op.range.begin;
  for (const Loc loc : plan.locs) {
    const PageRecord& record = full.at(page_of(loc));
    if (!holds_kv(full, record, loc)) {
      const bool lost = was_lost(full, record, loc);
      Verdict v = verdict(
          lost ? Rule::c11 : Rule::c2, lost ? full.lost_op[static_cast<std::size_t>(page_of(loc))] : record.lent_op,
          lost ? fmt::format(
                     "r{}'s position {} ({}) went with the pause and was not written since: KV_FRESH cannot hold",
                     op.row, pos, loc_name(Pool::full, loc))
               : fmt::format("r{} never wrote position {} ({})", op.row, pos, loc_name(Pool::full, loc)));
      add_history(v, Pool::full, page_of(loc));
      return v;
    }
    plan.full_stamps.push_back(make_stamp(record.generation, pos, StampKind::full));
    ++pos;
  }
  return {};
}

Fault Machine::State::admit_read_peers(const op::Read& op, const RowState& r, Plan& plan) {
  for (Pos pos = op.range.begin + static_cast<Pos>(plan.swa_first); pos < op.range.end; ++pos) {
    const Loc loc = loc_of(r, pos);
    const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
    const PageRecord& record = full.at(page_of(loc));
    const bool unwritten = peer != 0 && !holds_kv(swa, swa.at(page_of(peer)), peer);
    if (unwritten && was_lost(swa, swa.at(page_of(peer)), peer)) {
      Verdict v = verdict(Rule::c11, swa.lost_op[static_cast<std::size_t>(page_of(peer))],
                          fmt::format("r{}'s position {} ({}) went with the pause and was not written since", op.row,
                                      pos, loc_name(Pool::swa, peer)));
      add_history(v, Pool::swa, page_of(peer));
      return v;
    }
    if (peer == 0 || unwritten) {
      Verdict v = verdict(Rule::c2, record.peer_freed_op != 0 ? record.peer_freed_op : record.lent_op,
                          unwritten ? fmt::format("nobody wrote r{}'s position {} in the SWA pool", op.row, pos)
                                    : fmt::format("the window reads r{}'s position {}, a tombstone", op.row, pos));
      add_history(v, Pool::full, page_of(loc));
      return v;
    }
    plan.swa_stamps.push_back(peer_stamp(peer, pos));
  }
  return {};
}

Fault Machine::State::admit_read_ring(const op::Read& op, const RowState& r, Plan& plan) {
  if (r.slot < 0) {
    return verdict(Rule::c9, r.slot_op, fmt::format("r{} holds no request slot, so it has no ring to read", op.row));
  }
  for (Pos pos = op.range.begin + static_cast<Pos>(plan.swa_first); pos < op.range.end; ++pos) {
    const RingCell& cell = ring[static_cast<std::size_t>(r.slot * geo.ring + pos % geo.ring)];
    const bool own = cell.life == r.life && cell.position == static_cast<std::uint32_t>(pos);
    if (own && cell.lost_op != 0) {
      return verdict(
          Rule::c11, cell.lost_op,
          fmt::format("r{}'s position {} went from its ring with the pause and was not written since", op.row, pos));
    }
    if (own) {
      plan.swa_stamps.push_back(make_stamp(cell.generation, pos, StampKind::ring));
      continue;
    }
    if (cell.life != r.life) {
      return verdict(
          Rule::c2, r.slot_op,
          fmt::format("the ring of request slot {} holds nothing that r{} wrote for position {}: KV_FRESH cannot hold",
                      r.slot, op.row, pos));
    }
    const bool rejected = static_cast<Pos>(cell.position) >= r.length;
    return verdict(rejected ? Rule::c10 : Rule::c2, r.length_op,
                   fmt::format("r{}'s ring holds position {} where position {} was{}", op.row, cell.position, pos,
                               rejected ? ": a rejected token went over it, KV_INTACT cannot hold" : ""));
  }
  return {};
}

Fault Machine::State::admit(const op::Read& op, Plan& plan) {
  if (Fault fault = admit_memory("read")) {
    return fault;
  }
  if (Fault fault = admit_held(op.row, op.range, Rule::c2)) {
    return fault;
  }
  const RowState& r = rows[op.row];
  plan.locs.clear();
  plan.full_stamps.clear();
  plan.swa_stamps.clear();
  plan.slot = r.slot;
  plan.first_pos = op.range.begin;
  plan.swa_first = static_cast<std::size_t>(std::max<Pos>(0, op.range.size() - geo.window));
  Fault fault = admit_read_full(op, r, plan);
  if (!fault && geo.hybrid()) {
    fault = geo.ringed() ? admit_read_ring(op, r, plan) : admit_read_peers(op, r, plan);
  }
  return fault;
}

}  // namespace poolproof
