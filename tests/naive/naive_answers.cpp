// The allocator's half: which calls an op is, what they must answer, and what is so afterwards.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "tests/naive/naive_model.hpp"
#include "tests/naive/overloaded.hpp"

namespace poolproof::naive {
namespace {

Call call(CallKind kind, std::vector<Numbers> args = {}) { return {kind, std::move(args), {}, Answer::served}; }

Numbers number(Side side) { return {static_cast<std::int64_t>(side)}; }

const Call* find_call(const std::vector<Call>& calls, CallKind kind) {
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.kind == kind; });
  return found == calls.end() ? nullptr : &*found;
}

bool is_probe(const Op& op) {
  const auto* begin = std::get_if<op::GroupBegin>(&op);
  const auto* end = std::get_if<op::GroupEnd>(&op);
  return (begin != nullptr && begin->again) || (end != nullptr && end->again);
}

std::string scan_pool(const char* name, const PoolState& expected, const PoolCensus& seen, bool need_sort) {
  Numbers free = seen.free;
  free.insert(free.end(), seen.staged.begin(), seen.staged.end());
  std::sort(free.begin(), free.end());
  if (free != Numbers(expected.free.begin(), expected.free.end())) {
    return fmt::format("{} pool: free and staged pages {}, expected {}", name, free, expected.free);
  }
  if (std::set<std::int64_t>(seen.deferred.begin(), seen.deferred.end()) != expected.deferred) {
    return fmt::format("{} pool: deferred pages {}, expected {}", name, seen.deferred, expected.deferred);
  }
  if (need_sort && !std::is_sorted(seen.free.begin(), seen.free.end())) {
    return fmt::format("{} pool: free list {} is not ascending", name, seen.free);
  }
  return {};
}

}  // namespace

bool may_not_fit(const Op& op) {
  return std::holds_alternative<op::SlotTake>(op) || std::holds_alternative<op::Alloc>(op) ||
         std::holds_alternative<op::Extend>(op) || std::holds_alternative<op::Decode>(op) ||
         std::holds_alternative<op::Tail>(op) || std::holds_alternative<op::Pause>(op) ||
         std::holds_alternative<op::Resume>(op);
}

std::vector<Call> Model::expected_calls(const Op& op) const {
  using Calls = std::vector<Call>;
  const auto extend = [&](const std::vector<Piece>& pieces) -> Calls {
    Numbers prefixes;
    Numbers lengths;
    Numbers lasts;
    for (const Piece& piece : pieces) {
      prefixes.push_back(piece.range.begin);
      lengths.push_back(piece.range.end);
      lasts.push_back(last_loc(piece.row));
    }
    if (std::holds_alternative<op::Decode>(op)) {
      return {call(CallKind::alloc_decode, {lengths, lasts})};
    }
    return {call(CallKind::alloc_extend, {prefixes, lengths, lasts})};
  };
  const auto tail = [&](const op::Tail& o) -> Calls {
    return {call(CallKind::alloc_tail, {{o.range.begin, o.range.end, last_loc(o.row), o.swa.size(), o.swa.end}})};
  };
  const auto free = [&](const op::Free& o) -> Calls {
    Locs locs;
    for (const Piece& piece : o.pieces) {
      const Locs more = locs_of(piece);
      locs.insert(locs.end(), more.begin(), more.end());
    }
    return {call(CallKind::free, {number(o.side), locs})};
  };
  const auto free_segment = [&](const op::FreeSegment& o) -> Calls {
    Call out = call(CallKind::free_segments, {number(o.side)});
    for (const Range& range : o.ranges) {
      out.args.push_back({range.begin});
      out.args.push_back(locs_of({o.row, range}));
    }
    return {out};
  };
  const auto remap = [&](const op::Remap& o) -> Calls {
    const Locs donors = locs_of({o.from, {o.from_begin, o.from_begin + o.range.size()}});
    Locs peers;
    for (Pos i = 0; i < o.range.size(); ++i) {
      peers.push_back(g_.ringed() ? ring_row(*slot_of(o.from), o.from_begin + i)
                                  : peer(donors[static_cast<std::size_t>(i)]));
    }
    Calls out{call(CallKind::set_mapping, {locs_of({o.to, o.range}), peers})};
    if (g_.paired()) {
      out.push_back(call(CallKind::clear_mapping, {donors}));
    }
    return out;
  };
  const auto data = [&](Row row, const Range& range, Pos swa_begin, CallKind full, CallKind swa) -> Calls {
    Calls out{call(full, {locs_of({row, range})})};
    if (g_.hybrid()) {
      const Range slice{std::max(range.begin, swa_begin), range.end};
      out.push_back(call(swa, {locs_of({row, slice}), {slot_of(row).value_or(-1)}, {slice.begin}}));
    }
    return out;
  };
  const auto on_memory = [&](CallKind kind, std::vector<Numbers> args) -> Calls {
    return {call(kind, std::move(args))};
  };
  return std::visit(
      Overloaded{
          [&](const op::SlotTake&) -> Calls { return {call(CallKind::take_slot)}; },
          [&](const op::SlotGive& o) -> Calls { return {call(CallKind::give_slot, {{*slot_of(o.row)}})}; },
          [&](const op::Alloc& o) -> Calls { return {call(CallKind::alloc, {{o.range.size()}})}; },
          [&](const op::Extend& o) -> Calls { return extend(o.pieces); },
          [&](const op::Decode& o) -> Calls { return extend(pieces_of(o)); },
          tail,
          free,
          free_segment,
          [&](const op::Copy&) -> Calls { return {}; },
          [&](const op::Drop&) -> Calls { return {}; },
          [&](const op::Trim&) -> Calls { return {}; },
          remap,
          [&](const op::Unmap& o) -> Calls {
            return {call(CallKind::clear_mapping, {locs_of({o.row, o.range})})};
          },
          [&](const op::Write& o) -> Calls {
            return data(o.row, o.range, 0, CallKind::write_full, CallKind::write_swa);
          },
          [&](const op::Read& o) -> Calls {
            return data(o.row, o.range, o.range.end - g_.window, CallKind::read_full, CallKind::read_swa);
          },
          [&](const op::GroupBegin&) -> Calls { return {call(CallKind::group_begin)}; },
          [&](const op::GroupEnd&) -> Calls { return {call(CallKind::group_end)}; },
          [&](const op::Backup& o) -> Calls { return {call(CallKind::backup, {{o.name}})}; },
          [&](const op::Restore& o) -> Calls { return {call(CallKind::restore, {{o.name}})}; },
          [&](const op::Clear&) -> Calls { return {call(CallKind::clear)}; },
          [&](const op::Resize& o) -> Calls {
            return {call(CallKind::resize, {{o.full, o.swa}})};
          },
          [&](const op::Expect&) -> Calls { return {}; },
          [&](const op::Pause& o) { return on_memory(CallKind::pause, {{static_cast<std::int64_t>(o.tag)}}); },
          [&](const op::Resume& o) { return on_memory(CallKind::resume, {{static_cast<std::int64_t>(o.tag)}}); },
          [&](const op::Destroy&) -> Calls {
            return {call(CallKind::clear), call(CallKind::destroy)};
          },
          [&](const op::Build&) -> Calls {
            return {call(CallKind::clear), call(CallKind::build)};
          },
          [&](const op::Flush&) -> Calls {
            return {call(CallKind::clear), call(CallKind::flush)};
          },
      },
      op);
}

Answer Model::expected_answer(const Op& op) const {
  if (may_not_fit(op)) {
    return fits(op) ? Answer::served : Answer::refused;
  }
  return is_probe(op) ? Answer::refused : Answer::served;
}

std::string Model::check_calls(const Op& op, const std::vector<Call>& calls) const {
  const std::vector<Call> expected = expected_calls(op);
  std::size_t next = 0;
  for (const Call& made : calls) {
    if (made.kind == CallKind::translate) {
      continue;
    }
    if (next == expected.size() || expected[next].kind != made.kind) {
      return fmt::format("call {} of the op is of kind {}", next + 1, static_cast<int>(made.kind));
    }
    if (expected[next].args != made.args) {
      return fmt::format("call {} of the op has arguments {}, expected {}", next + 1, made.args, expected[next].args);
    }
    ++next;
  }
  return next == expected.size() ? std::string{} : fmt::format("only {} calls of {}", next, expected.size());
}

std::string Model::check_translations(const std::vector<Call>& calls) const {
  for (const Call& made : calls) {
    if (made.kind != CallKind::translate) {
      continue;
    }
    for (std::size_t i = 0; i < made.data.size(); ++i) {
      const Loc full = made.args[0][i];
      const Loc expected = g_.layout == Layout::pure_swa ? full : peer(full);
      if (made.data[i] != expected) {
        return fmt::format("full loc {} translates to {}, expected {}", full, made.data[i], expected);
      }
    }
  }
  return {};
}

Complaint Model::apply(const Op& op, const std::vector<Call>& calls, const std::vector<MemoryReport>& reports,
                       const Gauges& seen) {
  if (std::string what = check_calls(op, calls); !what.empty()) {
    return {{}, std::move(what)};
  }
  const Answer expected = expected_answer(op);
  for (const Call& made : calls) {
    // What a probe answers is an engine's own business; what it does is not.
    if (made.kind != CallKind::translate && !is_probe(op) && made.answer != expected) {
      return {fmt::format("answered {}, expected {}", static_cast<int>(made.answer), static_cast<int>(expected)), {}};
    }
  }
  if (std::string what = check_memory(op, reports); !what.empty()) {
    return {std::move(what), {}};
  }
  std::string what = expected == Answer::served ? take_over(op, calls, reports) : std::string{};
  if (what.empty()) {
    what = check_translations(calls);
  }
  return {what.empty() ? compare(seen) : what, {}};
}

std::string Model::take_over(const Op& op, const std::vector<Call>& calls, const std::vector<MemoryReport>& reports) {
  using Text = std::string;
  return std::visit(
      Overloaded{
          [&](const op::SlotTake& o) { return take_slot(o.row, calls.front().data.at(0)); },
          [&](const op::SlotGive& o) { return rows_[o.row].slot.reset(), Text{}; },
          [&](const op::Alloc&) { return lend(op, calls); },
          [&](const op::Extend&) { return lend(op, calls); },
          [&](const op::Decode&) { return lend(op, calls); },
          [&](const op::Tail&) { return lend(op, calls); },
          [&](const op::Free& o) { return release(o.side, o.pieces), Text{}; },
          [&](const op::FreeSegment& o) { return release(o.side, poolproof::naive::pieces_of(o)), Text{}; },
          [&](const op::Copy& o) { return copy(o), Text{}; },
          [&](const op::Drop& o) {
            return let_go(o.row, pages_of({{o.row, o.range}})), Text{};
          },
          [&](const op::Trim& o) {
            RowState& row = rows_[o.row];
            row.held.resize(static_cast<std::size_t>(o.length));
            return shorten(row), Text{};
          },
          [&](const op::Remap& o) { return remap(o), Text{}; },
          [&](const op::Unmap& o) {
            for (const Loc loc : locs_of({o.row, o.range})) {
              mapping_.erase(loc);
            }
            return Text{};
          },
          [&](const op::Write& o) {
            for (const Call& made : calls) {
              write(o, made);
            }
            return Text{};
          },
          [&](const op::Read& o) {
            for (const Call& made : calls) {
              if (Text what = check_stamps(o, made); !what.empty()) {
                return what;
              }
            }
            return Text{};
          },
          [&](const op::GroupBegin&) { return group_open_ = true, Text{}; },
          [&](const op::GroupEnd&) { return end_group(), Text{}; },
          [&](const op::Backup& o) { return backup(o.name), Text{}; },
          [&](const op::Restore& o) { return restore(Snapshot(snapshots_.at(o.name))), Text{}; },
          [&](const op::Clear&) { return start_afresh(g_.full, g_.swa), Text{}; },
          [&](const op::Resize& o) { return start_afresh(o.full, g_.hybrid() ? o.swa : g_.swa), Text{}; },
          [](const op::Expect&) { return Text{}; },
          [&](const op::Pause& o) { return pause(o.tag, reports), Text{}; },
          [&](const op::Resume& o) { return resume(o.tag), Text{}; },
          [&](const op::Destroy&) {
            start_afresh(g_.full, g_.swa);
            paused_.erase("kv_cache");
            return built_ = false, Text{};
          },
          [&](const op::Build&) {
            start_afresh(g_.full, g_.swa);
            return built_ = true, Text{};
          },
          [&](const op::Flush&) { return start_afresh(g_.full, g_.swa), Text{}; },
      },
      op);
}

std::string Model::lend(const Op& op, const std::vector<Call>& calls) {
  const Numbers locs = calls.front().data;
  const Call* translated = find_call(calls, CallKind::translate);
  std::size_t i = 0;
  for (const Lending& lending : lendings_of(op)) {
    for (Pos p = lending.piece.range.begin; p < lending.piece.range.end; ++p, ++i) {
      if (i >= locs.size()) {
        return fmt::format("{} locs, and more were asked for", locs.size());
      }
      std::string what = lend_full(lending.piece.row, p, locs[i]);
      if (what.empty() && g_.paired()) {
        const bool peered = p >= lending.peered.begin && p < lending.peered.end;
        const Loc seen = translated != nullptr && translated->args[0] == locs ? translated->data.at(i) : -1;
        what = lend_peer(lending.piece.row, p, locs[i], peered, seen);
      }
      if (!what.empty()) {
        return what;
      }
    }
  }
  return i == locs.size() ? std::string{} : fmt::format("{} locs, {} were asked for", locs.size(), i);
}

std::string Model::lend_full(Row row, Pos position, Loc loc) {
  if (position % g_.page == 0) {
    const std::int64_t page = loc / g_.page;
    if (loc % g_.page != 0 || full_.free.erase(page) == 0) {
      return fmt::format("loc {} does not start a free page of the full pool", loc);
    }
    full_.lending[page] = ++lendings_;
    evicted_.erase(page);
  } else if (loc != last_loc(row) + 1) {
    return fmt::format("loc {} does not follow {}", loc, last_loc(row));
  }
  full_kv_.erase(loc);
  forget_ring(row, position);
  rows_[row].held.emplace_back(loc);
  return {};
}

std::string Model::lend_peer(Row row, Pos position, Loc loc, bool peered, Loc seen) {
  mapping_.erase(loc);
  if (!peered) {
    return seen == 0 ? std::string{} : fmt::format("full loc {} has peer {}, expected none", loc, seen);
  }
  if (position % g_.page == 0) {
    const std::int64_t page = seen / g_.page;
    if (seen % g_.page != 0 || swa_.free.erase(page) == 0) {
      return fmt::format("peer {} does not start a free page of the SWA pool", seen);
    }
    swa_.lending[page] = ++lendings_;
  } else if (const Loc before = peer(*loc_of(row, position - 1)); seen != before + 1) {
    return fmt::format("peer {} does not follow {}", seen, before);
  }
  swa_kv_.erase(seen);
  mapping_[loc] = seen;
  return {};
}

std::string Model::take_slot(Row row, std::int64_t slot) {
  for (const auto& [other, state] : rows_) {
    if (state.slot == slot) {
      return fmt::format("request slot {} is r{}'s", slot, other);
    }
  }
  if (slot < 0 || slot > g_.reqs) {
    return fmt::format("request slot {} is out of range", slot);
  }
  rows_[row].slot = slot;
  if (g_.ringed()) {
    std::erase_if(ring_kv_, [&](const auto& kv) { return kv.first / g_.ring == slot; });
  }
  return {};
}

void Model::write(const op::Write& op, const Call& made) {
  for (std::size_t i = 0; i < made.data.size(); ++i) {
    const Pos position = op.range.begin + static_cast<Pos>(i);
    const Loc loc = *loc_of(op.row, position);
    const auto stamp = static_cast<Stamp>(made.data[i]);
    if (made.kind == CallKind::write_full) {
      full_kv_[loc] = {stamp, full_.lending.at(loc / g_.page)};
    } else if (g_.ringed()) {
      ring_kv_[ring_row(*slot_of(op.row), position)] = {position, stamp};
    } else if (const Loc swa = peer(loc); swa != 0) {
      swa_kv_[swa] = {stamp, swa_.lending.at(swa / g_.page)};
    }
  }
}

Stamp Model::swa_stamp(Row row, Pos position) const {
  if (g_.ringed()) {
    return ring_kv_.at(ring_row(*slot_of(row), position)).stamp;
  }
  return swa_kv_.at(peer(*loc_of(row, position))).stamp;
}

std::string Model::check_stamps(const op::Read& op, const Call& made) const {
  const bool full = made.kind == CallKind::read_full;
  const Pos first = full ? op.range.begin : made.args.at(2).at(0);
  for (std::size_t i = 0; i < made.data.size(); ++i) {
    const Pos position = first + static_cast<Pos>(i);
    const Stamp expected = full ? full_kv_.at(*loc_of(op.row, position)).stamp : swa_stamp(op.row, position);
    if (static_cast<Stamp>(made.data[i]) != expected) {
      return fmt::format("{} read of r{} position {} gives {:x}, expected {:x}", full ? "full" : "sliding", op.row,
                         position, made.data[i], expected);
    }
  }
  return {};
}

std::string Model::compare(const Gauges& seen) const {
  const Gauges expected = gauges();
  std::vector<std::tuple<const char*, std::int64_t, std::int64_t>> counters{
      {"available", seen.available, expected.available},
      {"size", seen.size, expected.size},
      {"full_available", seen.full_available, expected.full_available},
      {"full_size", seen.full_size, expected.full_size},
      {"slots_free", seen.slots_free, expected.slots_free},
      {"slots", seen.slots, expected.slots}};
  if (g_.sliding()) {
    counters.emplace_back("swa_available", seen.swa_available, expected.swa_available);
    counters.emplace_back("swa_size", seen.swa_size, expected.swa_size);
  }
  if (g_.hybrid()) {
    counters.emplace_back("swa_pool_available", seen.swa_pool_available, expected.swa_pool_available);
    counters.emplace_back("swa_pool_size", seen.swa_pool_size, expected.swa_pool_size);
    counters.emplace_back("mapping_tail", seen.mapping_tail, expected.mapping_tail);
  }
  for (const auto& [name, is, must] : counters) {
    if (is != must) {
      return fmt::format("{} is {}, expected {}", name, is, must);
    }
  }
  return {};
}

std::string Model::scan(const Census& census) const {
  std::string what = scan_pool("full", full_, census.full, g_.need_sort);
  if (what.empty() && g_.hybrid()) {
    what = scan_pool("SWA", swa_, census.swa, g_.need_sort);
  }
  if (what.empty() && g_.hybrid()) {
    what = scan_mapping(census);
  }
  return what.empty() ? scan_slots(census) : what;
}

std::string Model::scan_mapping(const Census& census) const {
  if (std::ssize(census.mapping) != g_.mapping_length()) {
    return fmt::format("the mapping has {} entries, expected {}", census.mapping.size(), g_.mapping_length());
  }
  for (Loc loc = 0; loc < g_.mapping_length(); ++loc) {
    const Loc expected = loc == g_.mapping_length() - 1 ? -1 : peer(loc);
    if (census.mapping[static_cast<std::size_t>(loc)] != expected) {
      return fmt::format("mapping[{}] is {}, expected {}", loc, census.mapping[static_cast<std::size_t>(loc)],
                         expected);
    }
  }
  return {};
}

std::string Model::scan_slots(const Census& census) const {
  const std::set<std::int64_t> free(census.free_slots.begin(), census.free_slots.end());
  bool clean = free.size() == census.free_slots.size() && std::ssize(free) == slots_free();
  for (const auto& [row, state] : rows_) {
    clean = clean && !(state.slot && free.contains(*state.slot));
  }
  return clean ? std::string{} : fmt::format("free request slots {}", census.free_slots);
}

}  // namespace poolproof::naive
