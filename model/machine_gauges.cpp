// Counters after every op, and the whole-pool census.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

// ---- counters

Gauges Machine::State::expected_gauges() const {
  Gauges g;
  g.full_available = full.free_pages << shift;
  g.full_size = geo.full;
  g.slots_free = slots_free;
  g.slots = geo.reqs;
  g.available = g.full_available;
  g.size = geo.full;
  if (geo.layout == Layout::pure_swa) {
    g.swa_available = g.full_available;
    g.swa_size = geo.full;
  } else if (geo.ringed()) {
    g.swa_available = slots_free * geo.ring_cost();
    g.swa_size = geo.reqs * geo.ring_cost();
    g.size = std::min(geo.full, g.swa_size);  // available may be more: the engine compares each side with its own size
  } else if (geo.paired()) {
    g.swa_available = g.swa_pool_available = swa.free_pages << shift;
    g.swa_size = g.swa_pool_size = geo.swa;
    g.available = std::min(g.full_available, g.swa_available);
    g.size = std::min(geo.full, geo.swa);
  }
  return g;
}

namespace {

struct Count {
  const char* name;
  Tokens Gauges::*field;
  Tokens Gauges::*limit;  ///< the size that an available count stays within; null for sizes
};

constexpr std::array<Count, 8> counts{{
    {"full available size", &Gauges::full_available, &Gauges::full_size},
    {"SWA available size", &Gauges::swa_available, &Gauges::swa_size},
    {"SWA pool's own available size", &Gauges::swa_pool_available, &Gauges::swa_pool_size},
    {"available size", &Gauges::available, &Gauges::size},
    {"full size", &Gauges::full_size, nullptr},
    {"SWA size", &Gauges::swa_size, nullptr},
    {"SWA pool's own size", &Gauges::swa_pool_size, nullptr},
    {"size", &Gauges::size, nullptr},
}};

/// What a wrong count means, by what the op was. `more` = more is credited than should be.
Invariant meaning_of(const Op* op, bool refused, bool group_open, bool more) {
  if (op == nullptr) {
    return Invariant::avail_exact;
  }
  if (refused) {
    return Invariant::all_or_nothing;
  }
  if (std::holds_alternative<op::Restore>(*op)) {
    return Invariant::round_trip;
  }
  if (std::holds_alternative<op::GroupEnd>(*op)) {
    return Invariant::group_drains;
  }
  const bool frees = std::holds_alternative<op::Free>(*op) || std::holds_alternative<op::FreeSegment>(*op) ||
                     std::holds_alternative<op::GroupBegin>(*op);
  if (group_open && frees && more) {
    return Invariant::group_defers;
  }
  return Invariant::avail_exact;
}

}  // namespace

Fault Machine::State::check_gauges(const Op* op, const Gauges& seen) {
  Gauges want = expected_gauges();
  if (geo.ringed()) {
    want.swa_pool_available = idle_swa_available;
    want.swa_pool_size = seen.swa_pool_size;
  }
  if (!geo.hybrid()) {
    want.mapping_tail = seen.mapping_tail;
    want.swa_pool_available = seen.swa_pool_available;
    want.swa_pool_size = seen.swa_pool_size;
    if (geo.layout != Layout::pure_swa) {
      want.swa_available = seen.swa_available;
      want.swa_size = seen.swa_size;
    }
  }
  const bool over = geo.ringed() && seen.swa_pool_available > seen.swa_pool_size;
  if (want == seen && !over) {
    return {};
  }
  return gauge_fault(op, want, seen);
}

Fault Machine::State::gauge_fault(const Op* op, const Gauges& want, const Gauges& seen) const {
  const auto sized = [&](Tokens tokens) { return tokens_text(tokens, geo.page); };
  if (geo.ringed() &&
      (seen.swa_pool_available != want.swa_pool_available || seen.swa_pool_available > seen.swa_pool_size)) {
    Verdict v = verdict(Invariant::ring_pool_idle, 0,
                        fmt::format("the paged SWA pool's available size moved{}",
                                    seen.swa_pool_available > seen.swa_pool_size ? ", past the pool's size" : ""),
                        fmt::format("{} of {}", sized(want.swa_pool_available), sized(seen.swa_pool_size)),
                        fmt::format("{} of {}", sized(seen.swa_pool_available), sized(seen.swa_pool_size)));
    add_touched(v, this->op());
    return v;
  }
  if (geo.hybrid() && seen.mapping_tail != -1) {
    return verdict(Invariant::tail_entry, 0, "the last entry of the mapping changed", "-1",
                   fmt::format("{}", seen.mapping_tail));
  }
  for (const Count& count : counts) {
    const Tokens have = seen.*count.field;
    const Tokens due = want.*count.field;
    if (have == due) {
      continue;
    }
    Invariant meaning = meaning_of(op, refused, group_open, have > due);
    if (meaning == Invariant::avail_exact && count.limit != nullptr && have > seen.*count.limit) {
      meaning = Invariant::avail_le_size;
    }
    Verdict v = verdict(meaning, group_op, fmt::format("the {} is wrong", count.name), sized(due), sized(have));
    if (meaning != Invariant::group_drains && meaning != Invariant::group_defers) {
      v.other_op = 0;
    }
    add_touched(v, this->op());
    return v;
  }
  if (seen.slots_free != want.slots_free || seen.slots != want.slots) {
    return verdict(refused ? Invariant::all_or_nothing : Invariant::avail_exact, 0,
                   "the number of request slots is wrong", fmt::format("{} of {} free", want.slots_free, want.slots),
                   fmt::format("{} of {} free", seen.slots_free, seen.slots));
  }
  return {};
}

/// Histories of the pages that the op gave back.
void Machine::State::add_touched(Verdict& v, OpIndex by) const {
  for (const Page number : touched_full) {
    if (v.histories.size() < 3 && full.at(number).freed_op == by) {
      add_history(v, Pool::full, number);
    }
  }
  for (const Page number : touched_swa) {
    if (v.histories.size() < 6 && swa.at(number).freed_op == by) {
      add_history(v, Pool::swa, number);
    }
  }
}

// ---- census

/// One list: pages exist, none is page 0, none stands twice, none is lent. Leaves each page's mark for the next list.
Fault Machine::State::census_list(Pool which, const std::vector<std::int64_t>& list, const char* name) {
  PoolState& p = pool(which);
  const char* pool_name = which == Pool::full ? "full" : "SWA";
  for (const std::int64_t number : list) {
    if (number == 0) {
      return verdict(Invariant::sentinel_untouched, 0,
                     fmt::format("page 0 is in the {} pool's {} list", pool_name, name));
    }
    if (number < 0 || number > p.page_count()) {
      return verdict(Invariant::free_list_clean, 0,
                     fmt::format("the {} pool's {} list holds page {}, which does not exist", pool_name, name, number),
                     fmt::format("pages 1..{}", p.page_count()), fmt::format("{}", number));
    }
    PageRecord& record = p.at(static_cast<Page>(number));
    const bool twice = record.touch == touch;
    record.touch = touch;
    if (!twice && record.state != PageState::lent) {
      continue;
    }
    Verdict v = verdict(Invariant::free_list_clean, twice ? record.freed_op : record.lent_op,
                        fmt::format("page {} {} the {} pool's {} list", page_name(which, static_cast<Page>(number)),
                                    twice ? "stands twice in" : "is lent and stands in", pool_name, name));
    add_history(v, which, static_cast<Page>(number));
    return v;
  }
  return {};
}

/// Deferred pages: none outside of a group; inside, just those that its frees gave back (named twice they stand twice).
Fault Machine::State::census_deferred(Pool which, const std::vector<std::int64_t>& list) {
  PoolState& p = pool(which);
  const char* pool_name = which == Pool::full ? "full" : "SWA";
  if (!group_open && !list.empty()) {
    return verdict(Invariant::group_drains, group_op,
                   fmt::format("the {} pool has deferred pages while no group is open", pool_name), "none",
                   fmt::format("{} pages", list.size()));
  }
  ++touch_deferred;
  for (const std::int64_t number : list) {
    const bool known = number > 0 && number <= p.page_count();
    if (known && p.at(static_cast<Page>(number)).state == PageState::deferred) {
      p.at(static_cast<Page>(number)).touches = touch_deferred;
      continue;
    }
    Verdict v = verdict(
        number == 0 ? Invariant::sentinel_untouched : Invariant::free_list_clean, group_op,
        fmt::format("page {} is deferred in the {} pool, and no free of the group gave it back", number, pool_name));
    if (known) {
      add_history(v, which, static_cast<Page>(number));
    }
    return v;
  }
  for (const Page number : p.deferred) {
    if (p.at(number).touches != touch_deferred) {
      Verdict v = verdict(Invariant::conservation, p.at(number).freed_op,
                          fmt::format("page {} was given back inside the group and is deferred nowhere: it is lost",
                                      page_name(which, number)));
      add_history(v, which, number);
      return v;
    }
  }
  return {};
}

Fault Machine::State::census_pool(Pool which, const PoolCensus& seen) {
  ++touch;
  Fault fault = census_list(which, seen.free, "free");
  if (!fault) {
    fault = census_list(which, seen.staged, "staging");
  }
  if (fault) {
    return fault;
  }
  PoolState& p = pool(which);
  const char* pool_name = which == Pool::full ? "full" : "SWA";
  if (Fault deferral = census_deferred(which, seen.deferred)) {
    return deferral;
  }
  for (Page number = 1; number <= p.page_count(); ++number) {
    const PageRecord& record = p.at(number);
    const bool listed = record.touch == touch;
    if (listed == (record.state == PageState::free)) {
      continue;
    }
    Verdict v = verdict(
        listed ? Invariant::group_defers : Invariant::conservation, record.freed_op,
        fmt::format("page {} is {}", page_name(which, number),
                    listed ? "in a free list while the open group defers it" : "free, and in no list: it is lost"));
    add_history(v, which, number);
    return v;
  }
  if (geo.need_sort && !std::is_sorted(seen.free.begin(), seen.free.end())) {
    const auto at = std::is_sorted_until(seen.free.begin(), seen.free.end());
    return verdict(Invariant::sorted_when_merged, 0, fmt::format("the {} pool's free list is not ascending", pool_name),
                   "ascending", fmt::format("{} before {}", *(at - 1), *at));
  }
  return {};
}

Fault Machine::State::census_mapping(std::span<const Loc> mapping) {
  if (mapping.size() != static_cast<std::size_t>(geo.mapping_length())) {
    return verdict(Invariant::tail_entry, 0, "the mapping has the wrong length",
                   fmt::format("{}", geo.mapping_length()), fmt::format("{}", mapping.size()));
  }
  if (mapping.back() != -1) {
    return verdict(Invariant::tail_entry, 0, "the last entry of the mapping changed", "-1",
                   fmt::format("{}", mapping.back()));
  }
  for (std::size_t loc = 0; loc < peers.size(); ++loc) {
    if (mapping[loc] != peers[loc]) {
      return mapping_fault(static_cast<Loc>(loc), mapping[loc]);
    }
  }
  return {};
}

/// Names what is wrong with an entry that no op of late had to change.
Verdict Machine::State::mapping_fault(Loc loc, Loc seen) {
  const std::int32_t peer = peers[static_cast<std::size_t>(loc)];
  const bool in_pool = geo.paired() && seen > 0 && seen < static_cast<Loc>(swa.pages.size()) << shift;
  const auto twin = seen == 0 ? peers.end() : std::find(peers.begin(), peers.end(), static_cast<std::int32_t>(seen));
  Invariant broken = peer == 0 ? Invariant::mapping_cleared : Invariant::mapping_total;
  std::string what = fmt::format("{} translates to {}", loc_name(Pool::full, loc), loc_name(Pool::swa, seen));
  if (in_pool && twin != peers.end()) {
    broken = Invariant::mapping_injective;
    what += fmt::format(", the peer of {}", loc_name(Pool::full, twin - peers.begin()));
  } else if (in_pool && swa.at(page_of(seen)).state != PageState::lent) {
    broken = Invariant::mapping_live;
    what += ", which is not lent";
  }
  Verdict v =
      verdict(broken, 0, std::move(what), peer == 0 ? "0" : loc_name(Pool::swa, peer), loc_name(Pool::swa, seen));
  add_history(v, Pool::full, page_of(loc));
  if (in_pool) {
    add_history(v, Pool::swa, page_of(seen));
  }
  return v;
}

Fault Machine::State::census_slots(const std::vector<std::int64_t>& free_slots) {
  std::vector<std::int64_t> sorted = free_slots;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return verdict(Invariant::ring_slot_exclusive, 0,
                   fmt::format("request slot {} stands twice in the free list", *twice));
  }
  for (const std::int64_t slot : sorted) {
    const bool known = slot >= 0 && slot < static_cast<std::int64_t>(slots.size());
    if (!known || slots[static_cast<std::size_t>(slot)].owner >= 0) {
      return verdict(
          Invariant::ring_slot_exclusive, known ? slots[static_cast<std::size_t>(slot)].taken_op : 0,
          fmt::format("request slot {} is in the free list and {}", slot, known ? "taken" : "does not exist"));
    }
  }
  if (static_cast<std::int64_t>(sorted.size()) != slots_free) {
    return verdict(Invariant::avail_exact, 0, "request slots are missing from the free list",
                   fmt::format("{} free", slots_free), fmt::format("{} free", sorted.size()));
  }
  return {};
}

/// Ring mode: the paged SWA pool's lists are as they were.
Fault Machine::State::census_idle(const PoolCensus& seen) const {
  if (!seen.deferred.empty()) {
    Verdict v = verdict(Invariant::ring_pool_idle, 0, "a free deferred pages of the paged SWA pool", "none",
                        fmt::format("{} pages", seen.deferred.size()));
    add_touched(v, ops_done);
    return v;
  }
  const Tokens listed = static_cast<Tokens>(seen.free.size() + seen.staged.size()) << shift;
  if (listed != idle_swa_available) {
    return verdict(Invariant::ring_pool_idle, 0, "the paged SWA pool's lists moved",
                   tokens_text(idle_swa_available, geo.page), tokens_text(listed, geo.page));
  }
  return {};
}

Fault Machine::State::census(const Census& seen) {
  Fault fault = census_pool(Pool::full, seen.full);
  if (!fault && geo.paired()) {
    fault = census_pool(Pool::swa, seen.swa);
  }
  if (!fault && geo.ringed()) {
    fault = census_idle(seen.swa);
  }
  if (!fault && geo.hybrid()) {
    fault = census_mapping(seen.mapping);
  }
  if (!fault && geo.reqs > 0) {
    fault = census_slots(seen.free_slots);
  }
  if (fault) {
    fault->op = ops_done;
    if (restored) {
      fault->cause = Invariant::round_trip;
      fault->what = "after restore " + fault->what;
    }
  }
  return fault;
}

// ---- from symptom to cause

Fault Machine::State::find_in_lists(const Census& seen, bool sentinel_alone) {
  for (const Pool which : {Pool::full, Pool::swa}) {
    if (which == Pool::swa && !geo.paired()) {
      continue;
    }
    ++touch;
    const PoolCensus& lists = which == Pool::full ? seen.full : seen.swa;
    Fault fault = census_list(which, lists.free, "free");
    if (!fault) {
      fault = census_list(which, lists.staged, "staging");
    }
    if (fault && (!sentinel_alone || std::get<Invariant>(fault->cause) == Invariant::sentinel_untouched)) {
      return fault;
    }
  }
  return {};
}

/// Histories of pages that should be listed and are not, or the other way round.
void Machine::State::add_lost_pages(Verdict& v, Pool which, const PoolCensus& lists) {
  PoolState& p = pool(which);
  ++touch;
  for (const auto* list : {&lists.free, &lists.staged}) {
    for (const std::int64_t number : *list) {
      if (number > 0 && number <= p.page_count()) {
        p.at(static_cast<Page>(number)).touch = touch;
      }
    }
  }
  for (Page number = 1; number <= p.page_count() && v.histories.size() < 6; ++number) {
    if ((p.at(number).touch == touch) != (p.at(number).state == PageState::free)) {
      add_history(v, which, number);
    }
  }
}

Verdict Machine::explain(Verdict symptom, const Census& seen) {
  const auto* invariant = std::get_if<Invariant>(&symptom.cause);
  if (invariant == nullptr) {
    return symptom;
  }
  const bool counted = *invariant == Invariant::avail_exact || *invariant == Invariant::avail_le_size;
  const bool grouped = *invariant == Invariant::group_defers || *invariant == Invariant::group_drains;
  if (!counted && !grouped && *invariant != Invariant::all_or_nothing && *invariant != Invariant::round_trip) {
    return symptom;
  }
  if (counted || grouped) {
    if (std::optional<Verdict> cause = state_->find_in_lists(seen, grouped)) {
      cause->op = symptom.op;
      cause->what += fmt::format(" ({}: {}, expected {})", symptom.what, symptom.seen, symptom.expected);
      return *cause;
    }
  }
  state_->add_lost_pages(symptom, Pool::full, seen.full);
  if (state_->geo.paired()) {
    state_->add_lost_pages(symptom, Pool::swa, seen.swa);
  }
  return symptom;
}

}  // namespace poolproof
