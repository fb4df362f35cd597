// Edits of the mapping. A load-back is two calls, set and clear, in either order: together they say whose peers moved.
// A set alone names SWA locs, and the log does not tell whose those were.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

std::int64_t count_of(const LoggedRuns& runs) {
  std::int64_t count = 0;
  for (const LoggedRun& run : runs) {
    count += run.count;
  }
  return count;
}

}  // namespace

/// All locs, if they are not far more than the pool has.
bool Lifter::flatten(const LoggedRuns& runs, Locs& out) const {
  if (count_of(runs) > 4 * ((pages_.page_count() + 1) << shift_)) {
    return false;
  }
  for (const LoggedRun& run : runs) {
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

/// Peers that a clear alone would lose: it is the first half of a load-back.
bool Lifter::all_peers_live(const LoggedRuns& runs) const {
  Locs locs;
  if (!flatten(runs, locs)) {
    return false;
  }
  return std::all_of(locs.begin(), locs.end(), [&](Loc loc) {
    const LogPage* page = pages_.exists(page_of(loc)) ? &pages_.at(page_of(loc)) : nullptr;
    return page != nullptr && page->standing == PageStanding::lent &&
           twin_->machine().row_peer_live(page->row, position_of(*page, offset_of(loc)));
  });
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
void Lifter::mark_swa_unknown(const LoggedRuns& runs) {
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

/// Both sides go on by one position, in the same rows.
bool Lifter::remap_goes_on(std::size_t i) const {
  const auto follows = [&](Loc loc, Loc next) {
    const LogPage& page = pages_.at(page_of(loc));
    const LogPage& next_page = pages_.at(page_of(next));
    return page.row == next_page.row &&
           position_of(page, offset_of(loc)) + 1 == position_of(next_page, offset_of(next));
  };
  return i + 1 < targets_of_remap_.size() && follows(targets_of_remap_[i], targets_of_remap_[i + 1]) &&
         follows(donors_of_remap_[i], donors_of_remap_[i + 1]);
}

/// All locs are lent, and the peers of each target page come from one stretch of one row: `remap` says no more.
bool Lifter::remap_sayable() const {
  const auto lent = [&](Loc loc) {
    return pages_.exists(page_of(loc)) && pages_.at(page_of(loc)).standing == PageStanding::lent &&
           !pages_.at(page_of(loc)).swa_unknown;
  };
  const auto all_lent = [&](const Locs& locs) { return std::all_of(locs.begin(), locs.end(), lent); };
  if (!all_lent(targets_of_remap_) || !all_lent(donors_of_remap_)) {
    return false;
  }
  for (std::size_t i = 0; i < targets_of_remap_.size(); ++i) {
    if (offset_of(targets_of_remap_[i]) != 0 && (i == 0 || !remap_goes_on(i - 1))) {
      return false;
    }
  }
  return true;
}

/// A load-back takes whole pages: tokens behind its last one in a page were rejected.
bool Lifter::cut_target(Loc last) {
  const std::int64_t number = page_of(last);
  const LogPage& page = pages_.at(number);
  const Pos end = position_of(page, offset_of(last)) + 1;
  const Pos length = twin_->machine().row_length(page.row);
  const Pos page_end = position_of(page, geo_.page);
  if (end >= std::min(length, page_end)) {
    return true;
  }
  return length <= page_end ? emit(op::Trim{page.row, end}) : split_off(number, end).has_value();
}

bool Lifter::cut_targets() {
  for (std::size_t i = 0; i < targets_of_remap_.size(); ++i) {
    if (!remap_goes_on(i) && !cut_target(targets_of_remap_[i])) {
      return false;
    }
  }
  return remap_sayable();  // a page may have a row of its own by now
}

void Lifter::lift_remap(const LogCall& set, const LogCall& cleared) {
  targets_of_remap_.clear();
  donors_of_remap_.clear();
  if (!flatten(set.locs, targets_of_remap_) || !flatten(cleared.locs, donors_of_remap_) || !remap_sayable() ||
      !cut_targets()) {
    leave_out("peers move in a way that no remap says, or the log does not tell enough of them");
    mark_swa_unknown(set.locs);
    mark_swa_unknown(cleared.locs);
    return;
  }
  mixed_ = true;
  for (std::size_t i = 0; i < targets_of_remap_.size();) {
    const std::size_t first = i;
    while (remap_goes_on(i)) {
      ++i;
    }
    ++i;
    const LogPage& to = pages_.at(page_of(targets_of_remap_[first]));
    const LogPage& from = pages_.at(page_of(donors_of_remap_[first]));
    const Pos begin = position_of(to, offset_of(targets_of_remap_[first]));
    const Pos from_begin = position_of(from, offset_of(donors_of_remap_[first]));
    if (!emit(op::Remap{to.row, {begin, begin + static_cast<Pos>(i - first)}, from.row, from_begin})) {
      mark_swa_unknown(set.locs);
    }
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
