// Calls that give back: from locs to the positions of the lendings that gave them.
#include <fmt/format.h>

#include <algorithm>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

/// Ops have at most 4096 pieces and lines at most 65536 bytes; a longer call becomes several ops.
constexpr std::size_t most_pieces = 2000;

/// In row order, neighbours joined.
void join_pieces(std::vector<Piece>& pieces) {
  const auto before = [](const Piece& a, const Piece& b) {
    return a.row != b.row ? a.row < b.row : a.range.begin < b.range.begin;
  };
  if (!std::is_sorted(pieces.begin(), pieces.end(), before)) {
    std::sort(pieces.begin(), pieces.end(), before);
  }
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].row == pieces[kept].row && pieces[i].range.begin <= pieces[kept].range.end) {
      pieces[kept].range.end = std::max(pieces[kept].range.end, pieces[i].range.end);
    } else {
      pieces[++kept] = pieces[i];
    }
  }
  pieces.resize(std::min(pieces.size(), kept + 1));
}

}  // namespace

// ---- which slots of which pages

/// Appends the runs to `parts_`, page by page. Of what lies outside of the pool the first page is enough.
void Lifter::gather(const LoggedRuns& runs) {
  const Loc pool_end = (pages_.page_count() + 1) << shift_;
  const std::size_t many = 4 * static_cast<std::size_t>(pages_.page_count()) + 4096;
  for (const LoggedRun& run : runs) {
    const Loc end = run.first + run.count;
    for (Loc loc = run.first; loc < end;) {
      const Loc part_end = std::min((page_of(loc) + 1) << shift_, end);
      parts_.push_back({page_of(loc), offset_of(loc), offset_of(loc) + part_end - loc});
      loc = loc < 0 ? std::max<Loc>(part_end, std::min<Loc>(0, end)) : loc >= pool_end ? end : part_end;
    }
    if (parts_.size() > many) {
      sort_parts();  // locs may be named any number of times
    }
  }
}

/// In page order; what a page is named by twice is joined.
void Lifter::sort_parts() {
  const auto before = [](const PagePart& a, const PagePart& b) {
    return a.page != b.page ? a.page < b.page : a.begin < b.begin;
  };
  if (!std::is_sorted(parts_.begin(), parts_.end(), before)) {
    std::sort(parts_.begin(), parts_.end(), before);
  }
  std::size_t kept = 0;
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (parts_[i].page == parts_[kept].page && parts_[i].begin <= parts_[kept].end) {
      parts_[kept].end = std::max(parts_[kept].end, parts_[i].end);
    } else {
      parts_[++kept] = parts_[i];
    }
  }
  parts_.resize(std::min(parts_.size(), kept + 1));
}

// ---- what the protocol says of each page

void Lifter::classify(Release& release) {
  for (std::size_t first = 0; first < parts_.size();) {
    std::size_t last = first + 1;
    while (last < parts_.size() && parts_[last].page == parts_[first].page) {
      ++last;
    }
    classify_page(release, first, last);
    first = last;
  }
}

void Lifter::classify_page(Release& release, std::size_t first, std::size_t last) {
  const std::int64_t number = parts_[first].page;
  if (!pages_.exists(number)) {
    return classify_not_lent(release, first, last);
  }
  LogPage& page = pages_.at(number);
  if (page.standing == PageStanding::outside) {
    doubt();
    if (release.releases) {
      pages_.give_back(number, twin_->machine().group_open(), place_.n);
    }
    return;
  }
  if (page.standing != PageStanding::lent && page.unsure && !adopt(number, parts_[last - 1].end)) {
    doubt();
    return;
  }
  if (page.standing == PageStanding::lent) {
    classify_lent(release, first, last);
  } else {
    classify_not_lent(release, first, last);
  }
}

/// All live tokens of the page are named; or all but the last ones, so those were rejected (had they not been, the call
/// that uses or frees them later is the one that shows it); or the caller leaves live tokens behind (C3).
void Lifter::classify_lent(Release& release, std::size_t first, std::size_t last) {
  const std::int64_t number = parts_[first].page;
  LogPage& page = pages_.at(number);
  const Pos base = position_of(page, 0);
  const Pos length = twin_->machine().row_length(page.row);
  const Pos live_end = std::clamp<Pos>(length - base, 0, geo_.page);
  const Pos named_end = std::min(parts_[first].end, live_end);
  const bool from_start = last - first == 1 && parts_[first].begin == 0;
  const bool row_end = base + live_end == length;
  if (live_end == 0) {  // a fault before left the twin without it
    doubt();
    release.broken.push_back(number);
    return;
  }
  if (page.swa_unknown) {
    doubt_swa_ = true;
    page.swa_unknown = page.swa_unknown && release.side == Side::full;
  }
  if (from_start) {
    // In the middle of a chain they cannot be trimmed; the page goes back whole, with them.
    const bool trimmed = named_end < live_end && row_end && emit(op::Trim{page.row, base + named_end});
    release.pieces.push_back({page.row, {base, base + (trimmed ? named_end : live_end)}});
    release.pages.push_back(number);
    return;
  }
  if (release.faulty.empty()) {
    release.fault_rule = "C3";
    release.fault_what = fmt::format("the call names part of page {} (locs {}..{}) and leaves live tokens in it",
                                     number, number << shift_, ((number + 1) << shift_) - 1);
  }
  for (std::size_t i = first; i < last; ++i) {
    release.faulty.push_back({page.row, {base + parts_[i].begin, base + parts_[i].end}});
  }
  release.mend.push_back({page.row, {base, base + live_end}});
  release.broken.push_back(number);
  page.tainted = true;
}

void Lifter::classify_not_lent(Release& release, std::size_t first, std::size_t last) {
  const std::int64_t number = parts_[first].page;
  const Loc loc = (number << shift_) + parts_[first].begin;
  const bool known = pages_.exists(number) && pages_.at(number).standing != PageStanding::never;
  if (release.faulty.empty()) {
    release.fault_rule = "C1";
    release.fault_what = known ? fmt::format("loc {} was given back by call {} already", loc, pages_.at(number).since)
                               : fmt::format("loc {} was never lent in this log", loc);
  }
  if (pages_.exists(number)) {
    pages_.at(number).tainted = true;
  }
  const std::optional<Row> unused = pages_.unused_row();
  if (!known && (!unused || loc < 0)) {
    return;
  }
  for (std::size_t i = first; i < last; ++i) {
    // A row that held nothing has no such position; the loc itself stands in for one.
    const Pos base = known ? position_of(pages_.at(number), 0) : number << shift_;
    release.faulty.push_back({known ? pages_.at(number).row : *unused, {base + parts_[i].begin, base + parts_[i].end}});
  }
}

/// Lent before the recording, or in calls that are missing: the trace lends it now.
bool Lifter::adopt(std::int64_t number, Tokens tokens) {
  const std::optional<Row> row = empty_row();
  if (!row) {
    return false;
  }
  note(fmt::format("page {} was lent before the recording, or in calls that are missing", number));
  doubt();
  if (!emit(op::Extend{{{*row, {0, tokens}}}}) || twin_->refused()) {
    pages_.return_row(*row);
    pages_.at(number).standing = PageStanding::outside;
    pages_.at(number).unsure = false;
    return false;
  }
  pages_.lend(number, {*row, 0}, place_.n);
  pages_.at(number).swa_unknown = true;
  return true;
}

// ---- the ops

bool Lifter::emit_pieces(Side side, const std::vector<Piece>& pieces) {
  bool good = true;
  for (std::size_t i = 0; i < pieces.size(); i += most_pieces) {
    const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = pieces.begin() + static_cast<std::ptrdiff_t>(std::min(i + most_pieces, pieces.size()));
    good = emit(op::Free{side, {begin, end}}) && good;
  }
  return good;
}

/// An op a row, for the rows of one call.
bool Lifter::emit_segments(const Release& release) {
  bool good = true;
  for (std::size_t i = 0; i < release.pieces.size();) {
    op::FreeSegment op{release.side, release.pieces[i].row, {}};
    while (i < release.pieces.size() && release.pieces[i].row == op.row && op.ranges.size() < most_pieces) {
      op.ranges.push_back(release.pieces[i++].range);
    }
    good = emit(op) && good;
  }
  return good;
}

bool Lifter::emit_release(const Release& release) {
  const bool one_row = release.pieces.front().row == release.pieces.back().row;
  // After a load-back an SWA page may serve full pages of two rows, and they go back in one call or not at all.
  return release.segments && (one_row || !mixed_) ? emit_segments(release) : emit_pieces(release.side, release.pieces);
}

/// The log's allocator gave the pages back, whatever the protocol says: so does the twin.
void Lifter::mend(const std::vector<Piece>& pieces) {
  doubt();
  const op::Free op{Side::both, pieces};
  if (!op_fault(op, twin_->machine().geometry()) && twin_->admits(op)) {
    writer_.comment("so that what follows has the pages that the log's allocator had");
    emit(op);
    return;
  }
  for (const Piece& piece : pieces) {
    const op::Free single{Side::both, {piece}};
    if (piece.range.size() > 0 && twin_->admits(single)) {
      emit(single);
    }
  }
}

void Lifter::settle(const std::vector<std::int64_t>& pages, const Release& release) {
  if (!release.releases) {
    return;
  }
  for (const std::int64_t number : pages) {
    pages_.give_back(number, twin_->machine().group_open(), place_.n);
  }
}

void Lifter::finish_release(Release& release) {
  join_pieces(release.pieces);
  if (!release.pieces.empty()) {
    if (!emit_release(release) && release.releases) {
      mend(release.pieces);
    }
    settle(release.pages, release);
  }
  if (release.fault_what.empty()) {
    return settle(release.broken, release);
  }
  if (release.faulty.empty() || release.faulty.size() > most_pieces) {
    blame(release.fault_rule, release.fault_what);
  } else {
    blame(op::Free{release.side, release.faulty}, release.fault_rule, release.fault_what);
  }
  if (release.releases && !release.mend.empty()) {
    mend(release.mend);
  }
  settle(release.broken, release);
}

void Lifter::lift_free(const LogCall& call) {
  const bool pure = geo_.layout == Layout::pure_swa;
  release_ = Release{};
  release_.side = call.side;
  release_.releases = pure ? call.side != Side::full : call.side != Side::swa;
  parts_.clear();
  if (!geo_.sliding() && call.side != Side::both) {
    return leave_out(fmt::format("{} on a pool without an SWA side", call.name));
  }
  gather(call.locs);
  sort_parts();
  classify(release_);
  finish_release(release_);
}

// ---- segments

/// Each starts at a page border, and on pages after those of the one before.
bool Lifter::segments_in_order(const LogCall& call) const {
  Pos next_page = 0;
  for (const LogSegment& segment : call.segments) {
    if (segment.locs.empty()) {
      continue;
    }
    Tokens tokens = 0;
    for (const LoggedRun& run : segment.locs) {
      tokens += run.count;
    }
    const Pos page = segment.start_pos >> shift_;
    if (offset_of(segment.start_pos) != 0 || offset_of(segment.locs.front().first) != 0 || page < next_page) {
      return false;
    }
    next_page = ((segment.start_pos + tokens - 1) >> shift_) + 1;
  }
  return true;
}

/// The segments as they came, if one row holds them all: the machine then names the border that is crossed.
void Lifter::blame_segments(const LogCall& call, Release& release) {
  op::FreeSegment op{release.side, 0, {}};
  bool one_row = true;
  for (const LogSegment& segment : call.segments) {
    for (std::size_t i = 0; i < segment.locs.size(); ++i) {
      const LoggedRun& run = segment.locs[i];
      const std::int64_t number = page_of(run.first);
      const std::int64_t last = page_of(run.first + run.count - 1);
      const bool lent = pages_.exists(number) && pages_.exists(last) &&
                        pages_.at(number).standing == PageStanding::lent &&
                        pages_.at(last).row == pages_.at(number).row;
      one_row = one_row && lent && (op.ranges.empty() || op.row == pages_.at(number).row);
      if (!one_row) {
        break;
      }
      op.row = pages_.at(number).row;
      const Pos begin = position_of(pages_.at(number), offset_of(run.first));
      if (i > 0 && op.ranges.back().end == begin) {
        op.ranges.back().end += run.count;
      } else {
        op.ranges.push_back({begin, begin + run.count});
      }
    }
  }
  const std::string what = "a segment starts inside a page, or on the page of the segment before it";
  if (one_row && !op.ranges.empty() && op.ranges.size() <= most_pieces) {
    blame(op, "C4", what);
  } else {
    blame("C4", what);
  }
  for (const PagePart& part : parts_) {
    if (pages_.exists(part.page)) {
      pages_.at(part.page).tainted = true;
    }
  }
}

void Lifter::lift_segments(const LogCall& call) {
  const bool pure = geo_.layout == Layout::pure_swa;
  release_ = Release{};
  release_.side = call.side;
  release_.segments = true;
  release_.releases = pure ? call.side != Side::full : call.side != Side::swa;
  parts_.clear();
  if (!geo_.sliding() && call.side != Side::both) {
    return leave_out(fmt::format("{} on a pool without an SWA side", call.name));
  }
  for (const LogSegment& segment : call.segments) {
    gather(segment.locs);
  }
  sort_parts();
  if (!segments_in_order(call)) {
    blame_segments(call, release_);
    release_.segments = false;
  }
  classify(release_);
  finish_release(release_);
}

}  // namespace poolproof
