// The allocator's side: answers are checked and adopted. Lending and giving back.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

// ---- lending

namespace {

/// Is locs[i] == first + i for all i?
bool consecutive(std::span<const Loc> locs, Loc first) {
  Loc wrong = 0;
  for (std::size_t i = 0; i < locs.size(); ++i) {
    wrong |= locs[i] ^ (first + static_cast<Loc>(i));
  }
  return wrong == 0;
}

std::size_t first_break(std::span<const Loc> locs, Loc first) {
  std::size_t i = 0;
  while (locs[i] == first + static_cast<Loc>(i)) {
    ++i;
  }
  return i;
}

}  // namespace

/// A new page of a row, whose first loc is `first`: exists, starts at its beginning, is free. Then it is lent.
Fault Machine::State::take_page(Pool which, const Lending& lending, Pos pos, Loc first) {
  PoolState& p = pool(which);
  const Page number = first < 0 || first >= static_cast<Loc>(p.pages.size()) << shift ? Page{-1} : page_of(first);
  if (number < 0) {
    return verdict(Invariant::free_list_clean, 0,
                   fmt::format("position {} of r{} got {}, which lies outside of the pool", pos, lending.row,
                               loc_name(which, first)),
                   fmt::format("a loc of pages 1..{}", p.page_count()), loc_name(which, first));
  }
  if (number == 0) {
    return verdict(Invariant::sentinel_untouched, 0,
                   fmt::format("position {} of r{} got {}, in page 0", pos, lending.row, loc_name(which, first)),
                   "a lendable page", "page 0");
  }
  PageRecord& record = p.at(number);
  if (offset_of(first) != 0) {
    Verdict v =
        verdict(Invariant::page_layout, record.lent_op,
                fmt::format("position {} of r{} begins a page, but got {}", pos, lending.row, loc_name(which, first)),
                "the first slot of a page", loc_name(which, first));
    add_history(v, which, number);
    return v;
  }
  if (record.state != PageState::free) {
    const bool deferred = record.state == PageState::deferred;
    Verdict v = verdict(deferred ? Invariant::group_defers : Invariant::no_double_lend,
                        deferred ? record.freed_op : record.lent_op,
                        fmt::format("page {} was lent to r{} while it {}", page_name(which, number), lending.row,
                                    deferred ? "waits for the end of the free group" : "is lent"),
                        "a free page", fmt::format("page {}", page_name(which, number)));
    log(LifeEvent::lent, which, number, lending.row, static_cast<std::int64_t>(index_of(pos)));
    add_history(v, which, number);
    return v;
  }
  record.generation = ++generations;
  record.base = static_cast<Page>(index_of(pos));
  record.lent_op = op();
  record.peer_freed_op = 0;
  record.users = which == Pool::full ? 1 : 0;
  record.state = PageState::lent;
  record.mixed = false;
  --p.free_pages;
  log(LifeEvent::lent, which, number, lending.row, record.base);
  return {};
}

/// Positions `range` of one row in one pool: the rest of the page behind `last`, then whole new pages, then a head.
Fault Machine::State::adopt_run(Pool which, const Lending& lending, Range range, std::optional<Loc> last,
                                std::span<const Loc> locs) {
  Pos pos = range.begin;
  while (pos < range.end) {
    const Pos run_end = std::min(range.end, (pos | (geo.page - 1)) + 1);
    const std::span<const Loc> run =
        locs.subspan(static_cast<std::size_t>(pos - range.begin), static_cast<std::size_t>(run_end - pos));
    const bool rest = offset_of(pos) != 0 && last.has_value();
    const Loc first = rest ? *last + 1 : run[0];
    if (!rest) {
      if (Fault fault = take_page(which, lending, pos, first)) {
        return fault;
      }
    }
    if (!consecutive(run, first)) {
      const std::size_t i = first_break(run, first);
      const Loc want = first + static_cast<Loc>(i);
      const bool unmapped = which == Pool::swa && run[i] == 0;
      Verdict v = verdict(unmapped ? Invariant::mapping_total : Invariant::page_layout, 0,
                          fmt::format("position {} of r{} {}", pos + static_cast<Pos>(i), lending.row,
                                      unmapped ? "has no SWA peer" : "does not follow on in its page"),
                          loc_name(which, want), loc_name(which, run[i]));
      add_history(v, which, page_of(want));
      return v;
    }
    pool(which).written.clear(static_cast<std::size_t>(first), run.size());
    pos = run_end;
  }
  return {};
}

Fault Machine::State::adopt_full(const Lending& lending, std::span<const Loc> locs) {
  RowState& r = rows[lending.row];
  std::optional<Loc> last;
  if (lending.begin > 0) {
    last = loc_of(r, lending.begin - 1);
  }
  if (Fault fault = adopt_run(Pool::full, lending, {lending.begin, lending.end}, last, locs)) {
    return fault;
  }
  const std::size_t pages_end = index_of(lending.end - 1) + 1;
  if (r.pages.size() < pages_end) {
    r.pages.resize(pages_end);
  }
  for (Pos pos = lending.begin; pos < lending.end; pos = (pos | (geo.page - 1)) + 1) {
    r.pages[index_of(pos)] = page_of(locs[static_cast<std::size_t>(pos - lending.begin)]);
  }
  if (lending.begin == 0) {
    r.generation = ++generations;
  }
  forget_ring(r, {lending.begin, lending.end});
  r.length = lending.end;
  r.length_op = op();
  return {};
}

/// What the row's ring holds for positions that are lent (or shared in) anew was written for another token.
void Machine::State::forget_ring(const RowState& r, Range range) {
  if (!geo.ringed() || r.slot < 0) {
    return;
  }
  for (Pos pos = std::max(range.begin, range.end - geo.ring); pos < range.end; ++pos) {
    RingCell& cell = ring[static_cast<std::size_t>(r.slot * geo.ring + pos % geo.ring)];
    if (cell.position == static_cast<std::uint32_t>(pos)) {
      cell.life = 0;
    }
  }
}

void Machine::State::set_peer(Loc loc, Loc peer) {
  std::int32_t& entry = peers[static_cast<std::size_t>(loc)];
  if (entry == static_cast<std::int32_t>(peer)) {
    return;
  }
  if (entry != 0 && geo.paired()) {
    --swa.at(page_of(entry)).users;
  }
  entry = static_cast<std::int32_t>(peer);
  if (entry != 0 && geo.paired()) {
    ++swa.at(page_of(entry)).users;
  }
}

/// A new full loc that is due no peer translates to 0. (In ring mode lending leaves the mapping alone: a slot of the
/// row's last page, trimmed and lent again, keeps what a load-back set.)
Fault Machine::State::outside_tail(const Lending& lending, Pos pos, Loc loc, Loc peer_seen) {
  if (peer_seen == 0 && geo.paired()) {
    set_peer(loc, 0);
    return {};
  }
  if (geo.ringed() && peer_seen == peers[static_cast<std::size_t>(loc)]) {
    return {};
  }
  Verdict v = verdict(Invariant::mapping_cleared, 0,
                      fmt::format("position {} of r{} ({}) is due no SWA peer but translates to {}", pos, lending.row,
                                  loc_name(Pool::full, loc), loc_name(Pool::swa, peer_seen)),
                      "0", loc_name(Pool::swa, peer_seen));
  add_history(v, Pool::full, page_of(loc));
  return v;
}

Fault Machine::State::adopt_swa(const Lending& lending, std::span<const Loc> full_locs,
                                std::span<const Loc> peers_seen) {
  const Range due = geo.paired() ? Range{lending.swa_begin, lending.swa_end} : Range{lending.end, lending.end};
  const auto at = [&](Pos pos) { return static_cast<std::size_t>(pos - lending.begin); };
  for (Pos pos = lending.begin; pos < lending.end; ++pos) {
    if (pos == due.begin) {
      pos = due.end - 1;
    } else if (Fault fault = outside_tail(lending, pos, full_locs[at(pos)], peers_seen[at(pos)])) {
      return fault;
    }
  }
  if (due.size() == 0) {
    return {};
  }
  for (Pos pos = due.begin; pos < due.end; ++pos) {
    if (peers_seen[at(pos)] == 0) {
      Verdict v = verdict(Invariant::mapping_total, 0,
                          fmt::format("position {} of r{} ({}) has no SWA peer", pos, lending.row,
                                      loc_name(Pool::full, full_locs[at(pos)])),
                          "a peer", "0");
      add_history(v, Pool::full, page_of(full_locs[at(pos)]));
      return v;
    }
  }
  std::optional<Loc> last;
  if (lending.continues_swa && due.begin > 0) {
    const RowState& r = rows[lending.row];
    last = peers[static_cast<std::size_t>(loc_of(r, due.begin - 1))];
  }
  const std::span<const Loc> due_peers =
      peers_seen.subspan(at(due.begin), static_cast<std::size_t>(due.end - due.begin));
  if (Fault fault = adopt_run(Pool::swa, lending, due, last, due_peers)) {
    return fault;
  }
  for (Pos pos = due.begin; pos < due.end; ++pos) {
    const Loc loc = full_locs[at(pos)];
    const Loc peer = peers_seen[at(pos)];
    set_peer(loc, peer);
    if (offset_of(pos) == 0) {
      log(LifeEvent::peered, Pool::full, page_of(loc), lending.row, page_of(peer));
      log(LifeEvent::peered, Pool::swa, page_of(peer), lending.row, page_of(loc));
    }
  }
  return {};
}

Fault Machine::State::observe_lending(const Plan& plan, const Observation& seen) {
  if (seen.answer == Answer::refused) {
    if (!plan.fits) {
      return {};
    }
    return verdict(Invariant::served_when_fits, 0, "the op fits and was refused",
                   fmt::format("served: it needs {} full{} pages", need_full,
                               geo.paired() ? fmt::format(" and {} SWA", need_swa) : std::string{}),
                   fmt::format("refused with {} full{} pages free", full.free_pages,
                               geo.paired() ? fmt::format(" and {} SWA", swa.free_pages) : std::string{}));
  }
  if (seen.locs.size() != static_cast<std::size_t>(plan.tokens)) {
    return verdict(Invariant::page_layout, 0, "the answer has the wrong number of locs",
                   fmt::format("{} locs", plan.tokens), fmt::format("{} locs", seen.locs.size()));
  }
  std::size_t at = 0;
  for (const Lending& lending : lendings) {
    const auto count = static_cast<std::size_t>(lending.end - lending.begin);
    if (Fault fault = adopt_full(lending, seen.locs.subspan(at, count))) {
      return fault;
    }
    at += count;
  }
  if (!geo.hybrid()) {
    return {};
  }
  at = 0;
  for (const Lending& lending : lendings) {
    const auto count = static_cast<std::size_t>(lending.end - lending.begin);
    if (Fault fault = adopt_swa(lending, seen.locs.subspan(at, count), seen.translations.subspan(at, count))) {
      return fault;
    }
    at += count;
  }
  return {};
}

Fault Machine::State::observe(const op::Alloc&, const Plan& plan, const Observation& seen) {
  return observe_lending(plan, seen);
}
Fault Machine::State::observe(const op::Extend&, const Plan& plan, const Observation& seen) {
  return observe_lending(plan, seen);
}
Fault Machine::State::observe(const op::Decode&, const Plan& plan, const Observation& seen) {
  return observe_lending(plan, seen);
}
Fault Machine::State::observe(const op::Tail&, const Plan& plan, const Observation& seen) {
  return observe_lending(plan, seen);
}

// ---- giving back

void Machine::State::give_back(Pool which, Page number, Row row_id) {
  PoolState& p = pool(which);
  PageRecord& record = p.at(number);
  record.users = 0;
  record.freed_op = op();
  if (group_open) {
    record.state = PageState::deferred;
    p.deferred.push_back(number);
    log(LifeEvent::deferred, which, number, row_id);
  } else {
    record.state = PageState::free;
    ++p.free_pages;
    log(LifeEvent::returned, which, number, row_id);
  }
}

void Machine::State::release_peers(Page number) {
  const Loc first = static_cast<Loc>(number) << shift;
  bool any = false;
  for (Loc loc = first; loc < first + geo.page; ++loc) {
    any = any || peers[static_cast<std::size_t>(loc)] != 0;
    peers[static_cast<std::size_t>(loc)] = 0;
  }
  if (any && geo.paired()) {
    full.at(number).peer_freed_op = op();
    log(LifeEvent::peer_freed, Pool::full, number, 0);
  }
}

void Machine::State::shrink_row(RowState& r) const {
  while (r.length > 0 && r.pages[index_of(r.length - 1)] < 0) {
    r.length = static_cast<Pos>(index_of(r.length - 1)) << shift;
    r.length_op = op();
  }
  r.frontier = std::min(r.frontier, r.length);
}

/// The rows named by the call no longer hold the released pages.
void Machine::State::give_up_rows(Side side) {
  for (const Piece& piece : pieces) {
    RowState& r = rows[piece.row];
    if (side == Side::swa) {
      r.frontier = std::max(r.frontier, piece.range.end);
      r.evict_op = op();
      if (geo.layout != Layout::pure_swa) {
        continue;
      }
    }
    for (std::size_t i = index_of(piece.range.begin); i <= index_of(piece.range.end - 1); ++i) {
      r.pages[i] = -static_cast<Page>(op());
    }
    shrink_row(r);
  }
}

/// After any free the mapping of the touched full pages reads 0.
Fault Machine::State::check_cleared(const Plan& plan, const Observation& seen) const {
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    if (seen.translations[i] == 0) {
      continue;
    }
    const Loc loc = plan.probes[i];
    const bool named = std::find(plan.locs.begin(), plan.locs.end(), loc) != plan.locs.end();
    const bool late = named && group_open;
    Verdict v = verdict(late ? Invariant::group_ownership : Invariant::mapping_cleared, 0,
                        fmt::format("{} still translates to {} after {}", loc_name(Pool::full, loc),
                                    loc_name(Pool::swa, seen.translations[i]),
                                    late    ? "the free was called inside the group: its owner is not settled"
                                    : named ? "it was freed"
                                            : "its page was freed"),
                        "0", loc_name(Pool::swa, seen.translations[i]));
    add_history(v, Pool::full, page_of(loc));
    const Loc stale = seen.translations[i];
    if (geo.paired() && stale > 0 && stale < static_cast<Loc>(swa.pages.size()) << shift) {
      add_history(v, Pool::swa, page_of(stale));
    }
    return v;
  }
  return {};
}

Fault Machine::State::observe_release(Side side, const Plan& plan, const Observation& seen) {
  const bool pure = geo.layout == Layout::pure_swa;
  if (pure && side == Side::full) {
    return {};
  }
  const Row by = pieces.empty() ? 0 : pieces.front().row;
  // In ring mode no page hangs on the mapping, and any free clears it.
  if (geo.ringed() || (geo.paired() && side != Side::full)) {
    for (const Page number : touched_full) {
      release_peers(number);
    }
    for (const Page number : touched_swa) {
      give_back(Pool::swa, number, by);
    }
  }
  give_up_rows(side);
  if (side != Side::swa || pure) {
    for (const Page number : touched_full) {
      give_back(Pool::full, number, by);
    }
  }
  if (group_open) {
    group_pages.insert(group_pages.end(), touched_full.begin(), touched_full.end());
  }
  return check_cleared(plan, seen);
}

Fault Machine::State::observe(const op::Free& op, const Plan& plan, const Observation& seen) {
  return observe_release(op.side, plan, seen);
}
Fault Machine::State::observe(const op::FreeSegment& op, const Plan& plan, const Observation& seen) {
  return observe_release(op.side, plan, seen);
}

// ---- groups

Fault Machine::State::observe(const op::GroupBegin& op, const Plan&, const Observation&) {
  if (!op.again) {
    group_open = true;
    group_op = this->op();
    group_pages.clear();
  }
  return {};
}

void Machine::State::credit_deferred(Pool which) {
  PoolState& p = pool(which);
  for (const Page number : p.deferred) {
    p.at(number).state = PageState::free;
    ++p.free_pages;
    log(LifeEvent::returned, which, number, 0);
  }
  p.deferred.clear();
}

Fault Machine::State::observe(const op::GroupEnd& op, const Plan& plan, const Observation& seen) {
  if (op.again) {
    return {};
  }
  group_open = false;
  group_op = this->op();
  credit_deferred(Pool::full);
  credit_deferred(Pool::swa);
  group_pages.clear();
  return check_translations(plan.probes, seen.translations, Invariant::group_ownership, Invariant::group_ownership);
}

}  // namespace poolproof
