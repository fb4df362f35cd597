// The allocator's side of request slots, sharing, load-back, KV data and snapshots.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

// ---- request slots

Fault Machine::State::observe(const op::SlotTake& op, const Plan& plan, const Observation& seen) {
  if (seen.answer == Answer::refused) {
    if (!plan.fits) {
      return {};
    }
    return verdict(Invariant::served_when_fits, 0, "a request slot is free and none was given",
                   fmt::format("one of {} free request slots", slots_free), "refused");
  }
  const bool known = seen.slot >= 0 && seen.slot < static_cast<std::int64_t>(slots.size());
  if (!known) {
    return verdict(Invariant::ring_slot_exclusive, 0,
                   fmt::format("r{} got request slot {}, which does not exist", op.row, seen.slot),
                   fmt::format("0..{}", slots.size() - 1), fmt::format("{}", seen.slot));
  }
  SlotState& slot = slots[static_cast<std::size_t>(seen.slot)];
  if (slot.owner >= 0 || slots_free == 0) {
    return verdict(Invariant::ring_slot_exclusive, slot.taken_op,
                   fmt::format("r{} got request slot {}, which r{} holds", op.row, seen.slot, slot.owner),
                   slots_free == 0 ? "refused: every request slot is taken" : "a free request slot",
                   fmt::format("slot {}", seen.slot));
  }
  slot = {static_cast<std::int64_t>(op.row), this->op()};
  --slots_free;
  RowState& r = rows[op.row];
  r.slot = seen.slot;
  r.slot_op = this->op();
  r.life = ++generations;
  r.generation = r.life;
  return {};
}

Fault Machine::State::observe(const op::SlotGive& op, const Plan&, const Observation&) {
  RowState& r = rows[op.row];
  slots[static_cast<std::size_t>(r.slot)] = SlotState{};
  ++slots_free;
  r.slot = -1;
  r.slot_op = this->op();
  return {};
}

// ---- sharing

Fault Machine::State::observe(const op::Copy& op, const Plan&, const Observation&) {
  RowState& to = rows[op.to];
  const RowState& from = rows[op.from];
  const std::size_t pages_end = index_of(op.range.end - 1) + 1;
  if (to.pages.size() < pages_end) {
    to.pages.resize(pages_end);
  }
  for (std::size_t i = index_of(op.range.begin); i < pages_end; ++i) {
    to.pages[i] = from.pages[i];
    ++full.at(from.pages[i]).users;
    log(LifeEvent::shared, Pool::full, from.pages[i], op.to);
  }
  if (op.range.begin == 0) {
    to.generation = ++generations;
  }
  forget_ring(to, op.range);
  to.length = op.range.end;
  to.length_op = this->op();
  return {};
}

Fault Machine::State::observe(const op::Drop& op, const Plan&, const Observation&) {
  RowState& r = rows[op.row];
  for (std::size_t i = index_of(op.range.begin); i <= index_of(op.range.end - 1); ++i) {
    --full.at(r.pages[i]).users;
    log(LifeEvent::dropped, Pool::full, r.pages[i], op.row);
    r.pages[i] = -static_cast<Page>(this->op());
  }
  shrink_row(r);
  return {};
}

Fault Machine::State::observe(const op::Trim& op, const Plan&, const Observation&) {
  RowState& r = rows[op.row];
  r.length = op.length;
  r.length_op = this->op();
  return {};
}

// ---- load-back

/// The mapping of `locs` is the machine's.
Fault Machine::State::check_translations(const Locs& locs, std::span<const Loc> seen, Invariant wrong_peer,
                                         Invariant wrong_zero) {
  for (std::size_t i = 0; i < locs.size(); ++i) {
    const std::int32_t peer = peers[static_cast<std::size_t>(locs[i])];
    if (seen[i] == peer) {
      continue;
    }
    Verdict v = verdict(peer == 0 ? wrong_zero : wrong_peer, 0,
                        fmt::format("{} translates to {}", loc_name(Pool::full, locs[i]), loc_name(Pool::swa, seen[i])),
                        peer == 0 ? "0" : loc_name(Pool::swa, peer), loc_name(Pool::swa, seen[i]));
    add_history(v, Pool::full, page_of(locs[i]));
    if (peer != 0 && geo.paired()) {
      add_history(v, Pool::swa, page_of(peer));
    }
    return v;
  }
  return {};
}

Fault Machine::State::observe(const op::Remap& op, const Plan& plan, const Observation& seen) {
  if (geo.ringed()) {
    for (std::size_t i = 0; i < plan.locs.size(); ++i) {
      set_peer(plan.locs[i], plan.peers[i]);
    }
    return check_translations(plan.probes, seen.translations, Invariant::mapping_total, Invariant::mapping_cleared);
  }
  for (std::size_t i = 0; i < plan.locs.size(); ++i) {
    const Page to = page_of(plan.locs[i]);
    const Page from = page_of(plan.donors[i]);
    const Page peer_page = page_of(plan.peers[i]);
    set_peer(plan.donors[i], 0);
    set_peer(plan.locs[i], plan.peers[i]);
    swa.at(peer_page).mixed = true;
    full.at(to).peer_freed_op = 0;
    if (i == 0 || page_of(plan.locs[i - 1]) != to || page_of(plan.peers[i - 1]) != peer_page) {
      log(LifeEvent::remapped, Pool::full, to, op.to, peer_page);
      log(LifeEvent::peered, Pool::swa, peer_page, op.to, to);
    }
    if (i == 0 || page_of(plan.donors[i - 1]) != from) {
      full.at(from).peer_freed_op = this->op();
      log(LifeEvent::peer_moved, Pool::full, from, op.from, to);
    }
  }
  return check_translations(plan.probes, seen.translations, Invariant::mapping_total, Invariant::mapping_cleared);
}

Fault Machine::State::observe(const op::Unmap&, const Plan& plan, const Observation& seen) {
  for (const Loc loc : plan.locs) {
    set_peer(loc, 0);
  }
  return check_translations(plan.probes, seen.translations, Invariant::mapping_cleared, Invariant::mapping_cleared);
}

// ---- KV data

/// KV of the page's present lending is there now; what was there of another lending is not.
void Machine::State::mark_written(Pool which, Loc loc, std::size_t count) {
  PoolState& p = pool(which);
  PageRecord& record = p.at(page_of(loc));
  if (record.stored != record.generation) {
    record.stored = record.generation;
    p.written.clear(static_cast<std::size_t>(loc & ~(geo.page - 1)), static_cast<std::size_t>(geo.page));
  }
  p.written.set(static_cast<std::size_t>(loc), count);
}

Fault Machine::State::observe(const op::Write& op, const Plan& plan, const Observation&) {
  for (std::size_t i = 0; i < plan.locs.size();) {
    const std::size_t run =
        std::min(plan.locs.size() - i, static_cast<std::size_t>(geo.page - offset_of(plan.locs[i])));
    mark_written(Pool::full, plan.locs[i], run);
    i += run;
  }
  if (geo.paired()) {
    for (const Loc loc : plan.locs) {
      const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
      if (peer != 0) {
        mark_written(Pool::swa, peer, 1);
      }
    }
  }
  if (geo.ringed()) {
    const RowState& r = rows[op.row];
    for (Pos pos = std::max(op.range.begin, op.range.end - geo.ring); pos < op.range.end; ++pos) {
      ring[static_cast<std::size_t>(r.slot * geo.ring + pos % geo.ring)] = {r.life, r.generation,
                                                                            static_cast<std::uint32_t>(pos)};
    }
  }
  return {};
}

namespace {

std::string stamp_text(Stamp stamp) {
  const StampParts parts = stamp_parts(stamp);
  if (parts.generation == 0) {
    return stamp == 0 ? "nothing ever written" : "a stamp of the padding slot";
  }
  constexpr std::array<std::string_view, 4> storage{"full", "SWA", "ring", "unknown"};
  return fmt::format("generation {}, position {}, {} storage", parts.generation, parts.position,
                     storage[static_cast<std::size_t>(parts.kind) & 3U]);
}

}  // namespace

Fault Machine::State::check_stamps(const op::Read& op, const Plan& plan, std::span<const Stamp> expected,
                                   std::span<const Stamp> seen, std::size_t first) {
  const auto [want, got] = std::mismatch(expected.begin(), expected.end(), seen.begin(), seen.end());
  if (want == expected.end()) {
    return {};
  }
  const std::size_t i = first + static_cast<std::size_t>(want - expected.begin());
  const StampParts own = stamp_parts(*want);
  const StampParts other = got == seen.end() ? StampParts{} : stamp_parts(*got);
  const bool former = other.generation != 0 && other.generation < own.generation;
  const Loc loc = plan.locs[i];
  Verdict v = verdict(
      former ? Invariant::kv_fresh : Invariant::kv_intact, full.at(page_of(loc)).lent_op,
      fmt::format("position {} of r{} ({}) reads {} from its {} storage", op.range.begin + static_cast<Pos>(i), op.row,
                  loc_name(Pool::full, loc), former ? "a former owner's KV" : "what its owner did not write",
                  own.kind == StampKind::full  ? "full"
                  : own.kind == StampKind::swa ? "SWA"
                                               : "ring"),
      stamp_text(*want), got == seen.end() ? "no stamp" : stamp_text(*got));
  add_history(v, Pool::full, page_of(loc));
  if (geo.paired() && peers[static_cast<std::size_t>(loc)] != 0) {
    add_history(v, Pool::swa, page_of(peers[static_cast<std::size_t>(loc)]));
  }
  return v;
}

Fault Machine::State::observe(const op::Read& op, const Plan& plan, const Observation& seen) {
  if (Fault fault = check_stamps(op, plan, plan.full_stamps, seen.full_stamps, 0)) {
    return fault;
  }
  return check_stamps(op, plan, plan.swa_stamps, seen.swa_stamps, plan.swa_first);
}

// ---- snapshots and the whole state

Fault Machine::State::observe(const op::Backup& op, const Plan&, const Observation&) {
  Snapshot snapshot{op.name, this->op(), full, swa, peers, rows};
  const auto same =
      std::find_if(snapshots.begin(), snapshots.end(), [&](const Snapshot& s) { return s.name == op.name; });
  if (same != snapshots.end()) {
    *same = std::move(snapshot);
  } else {
    snapshots.push_back(std::move(snapshot));
  }
  return {};
}

/// Pages are as they were, generations too; the KV that is physically there is not touched, so that a page which was
/// written under another lending in between holds nobody's.
void Machine::State::restore_pool(PoolState& now, const PoolState& then) {
  now.free_pages = then.free_pages;
  now.deferred = then.deferred;
  for (std::size_t i = 1; i < now.pages.size(); ++i) {
    const std::uint32_t stored = now.pages[i].stored;
    now.pages[i] = then.pages[i];
    now.pages[i].stored = stored;
    now.pages[i].touch = 0;
  }
}

Fault Machine::State::observe(const op::Restore& op, const Plan&, const Observation&) {
  const Snapshot& then = *std::find_if(snapshots.begin(), snapshots.end(),
                                       [&](const Snapshot& snapshot) { return snapshot.name == op.name; });
  restore_pool(full, then.full);
  restore_pool(swa, then.swa);
  peers = then.peers;
  for (std::size_t id = 0; id < rows.size(); ++id) {
    RowState& r = rows[id];
    const bool known = id < then.rows.size();
    for (Page& entry : r.pages) {
      entry = -static_cast<Page>(this->op());
    }
    if (known) {
      r.pages.assign(then.rows[id].pages.begin(), then.rows[id].pages.end());
    }
    r.length = known ? then.rows[id].length : 0;
    r.frontier = known ? then.rows[id].frontier : 0;
    r.length_op = this->op();
    r.touch = 0;
  }
  return {};
}

void Machine::State::forget_rows() {
  for (RowState& r : rows) {
    for (Page& entry : r.pages) {
      entry = -static_cast<Page>(op());
    }
    r.length = 0;
    r.frontier = 0;
    r.length_op = op();
    if (r.slot >= 0) {
      r.slot_op = op();
    }
    r.slot = -1;
  }
}

Fault Machine::State::observe(const op::Clear&, const Plan&, const Observation&) {
  start_afresh();
  return {};
}

void Machine::State::start_afresh() {
  forget_rows();
  reset_pools();
}

Fault Machine::State::observe(const op::Resize& op, const Plan&, const Observation& seen) {
  geo.full = op.full;
  if (geo.hybrid()) {
    geo.swa = op.swa;
  }
  idle_swa_available = seen.gauges.swa_pool_available;
  start_afresh();
  return {};
}

Fault Machine::State::observe(const op::Expect& op, const Plan&, const Observation&) {
  const auto differs = [&](std::string_view what, auto want, auto have) {
    return verdict(ExpectationFault{}, 0, fmt::format("the trace expects another {}", what), fmt::format("{}", want),
                   fmt::format("{}", have));
  };
  const auto sized = [&](Tokens tokens) { return tokens_text(tokens, geo.page); };
  if (op.refused && *op.refused != refused) {
    return differs("outcome of the op before", *op.refused ? "refused" : "served", refused ? "refused" : "served");
  }
  const Gauges now = expected_gauges();
  if (op.full && *op.full != now.full_available) {
    return differs("full available size", sized(*op.full), sized(now.full_available));
  }
  if (op.swa && *op.swa != now.swa_available) {
    return differs("SWA available size", sized(*op.swa), sized(now.swa_available));
  }
  if (op.slots && *op.slots != slots_free) {
    return differs("number of free request slots", *op.slots, slots_free);
  }
  return {};
}

}  // namespace poolproof
