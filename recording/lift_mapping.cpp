// Edits of the mapping. A load-back is two calls, set and clear, in either order: together they say whose peers moved.
// A set alone names SWA locs, and the log does not tell whose those were.
#include <fmt/format.h>

#include <utility>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

std::int64_t count_of(const LocRuns& runs) {
  std::int64_t count = 0;
  for (const LocRun& run : runs) {
    count += run.count;
  }
  return count;
}

}  // namespace

/// All locs, if they are not far more than the pool has.
bool Lifter::flatten(const LocRuns& runs, Locs& out) const {
  if (count_of(runs) > 4 * ((pages_.page_count() + 1) << shift_)) {
    return false;
  }
  for (const LocRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      out.push_back(run.first + i);
    }
  }
  return true;
}

/// With the call before it, this one is a load-back.
bool Lifter::join_mapping(const LogCall& call) {
  const LogCall& before = pending_->call;
  const bool set_first = before.kind == LogCallKind::set_mapping && call.kind == LogCallKind::clear_mapping;
  const bool clear_first = before.kind == LogCallKind::clear_mapping && call.kind == LogCallKind::set_mapping;
  if (geo_.ringed() || (!set_first && !clear_first) || count_of(before.locs) != count_of(call.locs)) {
    return false;
  }
  place_ = pending_->place;
  call_op_ = 0;
  judged_ = doubt_full_ = doubt_swa_ = false;
  lift_remap(set_first ? before : call, set_first ? call : before);
  pending_.reset();
  check_counts(call);
  return true;
}

/// What was waiting for its other half has none.
void Lifter::flush_mapping() {
  if (!pending_) {
    return;
  }
  const PendingMapping alone = *std::exchange(pending_, std::nullopt);
  place_ = alone.place;
  call_op_ = 0;
  judged_ = doubt_full_ = doubt_swa_ = false;
  if (!geo_.hybrid()) {
    leave_out(fmt::format("{} on a pool without a mapping", alone.call.name));
  } else if (alone.call.kind == LogCallKind::clear_mapping) {
    lift_unmap(alone.call);
  } else {
    leave_out("whose peers these were, the log does not tell");
    mark_swa_unknown(alone.call.locs);
  }
  check_counts(alone.call);
}

/// A ring has no SWA pages that could go astray.
void Lifter::mark_swa_unknown(const LocRuns& runs) {
  if (!geo_.paired()) {
    return;
  }
  doubt_swa_ = true;
  swa_unknown_ = true;
  Locs locs;
  if (!flatten(runs, locs)) {
    return;
  }
  for (const Loc loc : locs) {
    if (pages_.exists(page_of(loc))) {
      pages_.at(page_of(loc)).swa_unknown = true;
    }
  }
}

void Lifter::lift_remap(const LogCall& set, const LogCall& cleared) {
  Locs targets;
  Locs donors;
  bool known = flatten(set.locs, targets) && flatten(cleared.locs, donors);
  const auto lent = [&](Loc loc) {
    return pages_.exists(page_of(loc)) && pages_.at(page_of(loc)).standing == PageStanding::lent &&
           !pages_.at(page_of(loc)).swa_unknown;
  };
  for (std::size_t i = 0; known && i < targets.size(); ++i) {
    known = lent(targets[i]) && lent(donors[i]);
  }
  if (!known) {
    leave_out("a mapping is moved from or to locs of which the log does not tell enough");
    mark_swa_unknown(set.locs);
    mark_swa_unknown(cleared.locs);
    return;
  }
  mixed_ = true;
  const auto place_of = [&](Loc loc) {
    const LogPage& page = pages_.at(page_of(loc));
    return std::pair<Row, Pos>(page.row, position_of(page, offset_of(loc)));
  };
  for (std::size_t i = 0; i < targets.size();) {
    const auto [to, begin] = place_of(targets[i]);
    const auto [from, from_begin] = place_of(donors[i]);
    Pos count = 1;
    while (i + static_cast<std::size_t>(count) < targets.size() &&
           place_of(targets[i + static_cast<std::size_t>(count)]) == std::pair<Row, Pos>(to, begin + count) &&
           place_of(donors[i + static_cast<std::size_t>(count)]) == std::pair<Row, Pos>(from, from_begin + count)) {
      ++count;
    }
    if (!emit(op::Remap{to, {begin, begin + count}, from, from_begin})) {
      mark_swa_unknown(set.locs);
    }
    i += static_cast<std::size_t>(count);
  }
}

void Lifter::lift_unmap(const LogCall& call) {
  Locs locs;
  if (!flatten(call.locs, locs)) {
    return leave_out("it names many times the locs that the pool has");
  }
  for (std::size_t i = 0; i < locs.size();) {
    const std::int64_t number = page_of(locs[i]);
    if (!pages_.exists(number) || pages_.at(number).standing == PageStanding::never ||
        pages_.at(number).standing == PageStanding::outside || pages_.at(number).swa_unknown) {
      leave_out(fmt::format("of loc {} the log does not tell enough", locs[i]));
      ++i;
      continue;
    }
    const Row row = pages_.at(number).row;
    const Pos begin = position_of(pages_.at(number), offset_of(locs[i]));
    Pos count = 1;
    for (++i; i < locs.size(); ++i, ++count) {
      const std::int64_t next = page_of(locs[i]);
      if (!pages_.exists(next) || pages_.at(next).row != row || pages_.at(next).swa_unknown ||
          position_of(pages_.at(next), offset_of(locs[i])) != begin + count) {
        break;
      }
    }
    const op::Unmap op{row, {begin, begin + count}};
    if (pages_.at(number).standing == PageStanding::lent) {
      emit(op);
    } else {
      blame(op, "C2",
            fmt::format("loc {} was given back by call {} already", (number << shift_), pages_.at(number).since));
    }
  }
}

}  // namespace poolproof
