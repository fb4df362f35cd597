// Lending calls: which row each request goes on with, and whose each answered loc is from now on.
#include <fmt/format.h>

#include <algorithm>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

/// Ops have at most 4096 pieces and lines at most 65536 bytes.
constexpr std::size_t most_requests_an_op = 2000;

}  // namespace

// ---- which row

void Lifter::touch_row(Row row) {
  if (row >= row_touch_.size()) {
    row_touch_.resize(row + std::size_t{1}, 0);
  }
  row_touch_[row] = touch_;
}

/// Rows have run out: a row that ends at a page border can take a lending that starts a page.
std::optional<Row> Lifter::any_row_at_page_border() {
  const Machine& machine = twin_->machine();
  for (Row tried = 0; tried < max_rows; ++tried) {
    border_cursor_ = (border_cursor_ + 1) % max_rows;
    const Pos length = machine.row_length(border_cursor_);
    const bool usable = length > 0 && length % geo_.page == 0 && !touched(border_cursor_);
    if (usable && twin_->admits(op::Extend{{{border_cursor_, {length, length + 1}}}})) {
      return border_cursor_;
    }
  }
  return std::nullopt;
}

/// A row that nothing hangs on, in the twin neither: there a fault may have left something behind.
std::optional<Row> Lifter::empty_row() {
  std::optional<Row> row = pages_.take_row();
  while (row && (twin_->machine().row_length(*row) > 0 || twin_->machine().row_has_slot(*row))) {
    row = pages_.take_row();
  }
  return row;
}

void Lifter::take_new_row(Target& target, Tokens tokens) {
  if (const std::optional<Row> row = empty_row()) {
    target.row = *row;
    target.begin = 0;
    target.new_row = true;
  } else if (const std::optional<Row> old = any_row_at_page_border()) {
    target.row = *old;
    target.begin = twin_->machine().row_length(*old);
  } else {
    leave_out("a trace has no more than 65536 rows, and all of them hold something");
    target.fate = Fate::outside;
  }
  target.end = target.begin + tokens;
  touch_row(target.row);
}

/// Makes `end` the row's end: tokens behind it in its last page were rejected.
bool Lifter::reach_row_end(Row row, Pos end, std::int64_t page) {
  const Pos length = twin_->machine().row_length(row);
  if (end == length) {
    return true;
  }
  const bool last_page = end < length && static_cast<Pos>(pages_.at(page).index) == (length - 1) >> shift_;
  return last_page && emit(op::Trim{row, end});
}

/// The page is in the middle of a chain, and tokens of it from `end` on were rejected all the same: it gets a row of
/// its own. Nothing where the chain has holes before it.
std::optional<Row> Lifter::split_off(std::int64_t number, Pos end) {
  const LogPage owner = pages_.at(number);
  const Pos page_end = position_of(owner, geo_.page);
  const Pos page_begin = page_end - geo_.page;
  const std::optional<Row> row = empty_row();
  if (!row) {
    return std::nullopt;
  }
  const op::Copy copy{*row, {0, page_end}, owner.row};
  if (!twin_->admits(copy)) {
    pages_.return_row(*row);
    return std::nullopt;
  }
  bool done = emit(copy) && emit(op::Drop{owner.row, {page_begin, page_end}});
  if (page_begin > 0) {
    done = done && emit(op::Drop{*row, {0, page_begin}});
  }
  pages_.move(number, *row);
  return done && emit(op::Trim{*row, end}) ? row : std::nullopt;
}

/// The lending goes on inside the page of its last loc: it must go on with the row that holds it.
void Lifter::resolve_inside_page(Target& target, Pos length_in_page) {
  const Tokens tokens = target.end;
  const std::int64_t number = page_of(target.last_loc);
  if (pages_.exists(number) && pages_.at(number).standing == PageStanding::outside) {
    target.fate = Fate::outside;
    return;
  }
  if (pages_.exists(number) && pages_.at(number).standing != PageStanding::lent && pages_.at(number).unsure &&
      !adopt(number, length_in_page)) {
    target.fate = Fate::outside;
    return;
  }
  if (!pages_.exists(number) || pages_.at(number).standing != PageStanding::lent) {
    const bool known = pages_.exists(number) && pages_.at(number).standing != PageStanding::never;
    target.fate = Fate::faulty;
    target.row = known ? pages_.at(number).row : pages_.unused_row().value_or(0);
    target.begin = known ? position_of(pages_.at(number), length_in_page) : std::max<Pos>(target.last_loc + 1, 1);
    target.end = target.begin + tokens;
    return;
  }
  const LogPage& page = pages_.at(number);
  swa_unknown_ = swa_unknown_ || page.swa_unknown;
  target.row = page.row;
  target.begin = position_of(page, length_in_page);
  target.end = target.begin + tokens;
  const bool split_needed = target.begin < twin_->machine().row_length(page.row) &&
                            static_cast<Pos>(page.index) < (twin_->machine().row_length(page.row) - 1) >> shift_;
  if (split_needed) {
    const std::optional<Row> own = split_off(number, target.begin);
    if (!own) {
      leave_out("it goes on behind rejected tokens in the middle of a chain with holes");
      target.fate = Fate::outside;
      return;
    }
    target.row = *own;
  } else if (touched(target.row) || !reach_row_end(target.row, target.begin, number)) {
    target.fate = Fate::faulty;
  }
  touch_row(target.row);
}

/// Rows and positions of one request. `end` holds the number of tokens until the row is known.
Lifter::Target Lifter::resolve(const LogCall& call, std::size_t request) {
  Target target;
  const Pos prefix = call.prefix_lens[request];
  const Tokens tokens = call.seq_lens[request] - prefix;
  target.last_loc = call.last_locs[request];
  target.end = tokens;
  const Pos inside = prefix & (geo_.page - 1);
  if (prefix > 0 && target.last_loc >= 0 && offset_of(target.last_loc + 1) != inside) {
    // Told by going on at the recorded offset, where the row does not end.
    const std::int64_t number = page_of(target.last_loc);
    const bool lent = pages_.exists(number) && pages_.at(number).standing == PageStanding::lent;
    target.fate = Fate::faulty;
    target.row = lent ? pages_.at(number).row : pages_.unused_row().value_or(0);
    target.begin = (twin_->machine().row_length(target.row) & ~(geo_.page - 1)) + geo_.page + inside;
    target.end = target.begin + tokens;
    return target;
  }
  if (inside != 0) {
    resolve_inside_page(target, inside);
    return target;
  }
  const std::int64_t number = page_of(target.last_loc);
  if (target.last_loc >= 0 && pages_.exists(number) && pages_.at(number).standing == PageStanding::lent) {
    const LogPage& page = pages_.at(number);
    const Pos begin = position_of(page, geo_.page);
    if (begin == twin_->machine().row_length(page.row) && !touched(page.row)) {
      swa_unknown_ = swa_unknown_ || page.swa_unknown;
      target.row = page.row;
      target.begin = begin;
      target.end = begin + tokens;
      touch_row(page.row);
      return target;
    }
  }
  take_new_row(target, tokens);
  return target;
}

// ---- the op

/// Of the good ones; an `expect` of nothing when there are none.
Op Lifter::lending_op(const LogCall& call, std::span<const Target> targets) const {
  std::vector<Piece> pieces;
  std::vector<Row> rows;
  bool at_ends = true;
  for (const Target& target : targets) {
    if (target.fate == Fate::good) {
      pieces.push_back({target.row, {target.begin, target.end}});
      rows.push_back(target.row);
      at_ends = at_ends && target.begin == twin_->machine().row_length(target.row);
    }
  }
  if (pieces.empty()) {
    return op::Expect{};
  }
  const Piece& first = pieces.front();
  if (call.kind == LogCallKind::decode && at_ends) {
    return op::Decode{std::move(rows)};
  }
  if (call.kind == LogCallKind::alloc && !(geo_.hybrid() && geo_.page > 1) && first.range.size() % geo_.page == 0) {
    return op::Alloc{first.row, first.range};
  }
  if (call.kind == LogCallKind::tail && geo_.hybrid() && call.tail_len > 0) {
    const Pos shift = first.range.begin - call.prefix_lens[0];
    return op::Tail{first.row, first.range, {call.tail_end - call.tail_len + shift, call.tail_end + shift}};
  }
  return op::Extend{std::move(pieces)};
}

/// A rule that one request breaks would stop the whole batch: it is told apart from the others.
void Lifter::set_faulty_apart(const LogCall& call) {
  const bool single = targets_.size() == 1;
  if (single || twin_->admits(lending_op(call, targets_))) {
    return;
  }
  for (Target& target : targets_) {
    if (target.fate == Fate::good && !twin_->admits(op::Extend{{{target.row, {target.begin, target.end}}}})) {
      target.fate = Fate::faulty;
    }
  }
}

void Lifter::emit_faulty(const LogCall& call) {
  for (const Target& target : targets_) {
    if (target.fate == Fate::faulty) {
      blame(op::Extend{{{target.row, {target.begin, target.end}}}}, "C7",
            fmt::format("{} goes on after loc {}, which is no row's last one", call.name, target.last_loc));
    }
  }
}

void Lifter::lift_alloc(const LogCall& call) {
  if (call.tokens == 0) {
    return;
  }
  ++touch_;
  targets_.assign(1, Target{});
  take_new_row(targets_[0], call.tokens);
  lend(call);
}

void Lifter::lift_lending(const LogCall& call) {
  ++touch_;
  targets_.clear();
  std::size_t first_loc = 0;
  for (std::size_t i = 0; i < call.seq_lens.size(); ++i) {
    const Tokens tokens = call.seq_lens[i] - call.prefix_lens[i];
    if (tokens == 0) {
      continue;
    }
    targets_.push_back(resolve(call, i));
    targets_.back().first_loc = first_loc;
    first_loc += static_cast<std::size_t>(tokens);
  }
  lend(call);
}

void Lifter::lend(const LogCall& call) {
  read_answer(call);
  if (unsure_) {
    give_back_relent();
  }
  set_faulty_apart(call);
  const auto all_good =
      std::all_of(targets_.begin(), targets_.end(), [](const Target& target) { return target.fate == Fate::good; });
  if (!all_good) {
    doubt();
  }
  const bool telling = comparable();
  const bool followed = lend_good(call);
  emit_faulty(call);
  if (call.served) {
    attach(followed);
  }
  if (call.served && !followed && telling) {
    violation(
        twin_->machine().group_open() ? "GROUP_DEFERS" : "NO_DOUBLE_LEND",
        "the call was served and does not fit: a page was lent twice, or before the group that gives it back ended",
        "refused", "served");
  }
  for (const Target& target : targets_) {
    pages_.return_row(target.row);
  }
}

/// True when the twin has lent what the log's allocator has. A batch that no line holds becomes several ops.
bool Lifter::lend_good(const LogCall& call) {
  const std::span<const Target> all(targets_);
  if (all.size() <= most_requests_an_op) {
    return lend_part(call, all);
  }
  if (!call.served) {
    leave_out(fmt::format("a refused batch of {} requests, more than an op has", all.size()));
    return false;
  }
  bool followed = true;
  for (std::size_t i = 0; i < all.size(); i += most_requests_an_op) {
    followed = lend_part(call, all.subspan(i, std::min(most_requests_an_op, all.size() - i))) && followed;
  }
  return followed;
}

bool Lifter::lend_part(const LogCall& call, std::span<const Target> part) {
  const Op op = lending_op(call, part);
  if (std::holds_alternative<op::Expect>(op)) {
    return false;
  }
  if (const std::optional<std::string> fault = op_fault(op, twin_->machine().geometry())) {
    leave_out(fmt::format("{}: {}", call.name, *fault));
    doubt();
    return false;
  }
  const bool served = emit(op) && !twin_->refused();
  if (served && !call.served) {
    if (!call.error) {
      judge_refusal();
    }
    undo(part);
  }
  return served && call.served;
}

void Lifter::judge_refusal() {
  if (!comparable()) {
    return;
  }
  violation("SERVED_WHEN_FITS", "the call fits and was refused", "served", "refused");
}

/// The log's allocator did not lend; what the twin lent goes back.
void Lifter::undo(std::span<const Target> part) {
  std::vector<Piece> pieces;
  for (const Target& target : part) {
    const Pos border = (target.begin + geo_.page - 1) & ~(geo_.page - 1);
    if (target.fate == Fate::good && target.end > border) {
      pieces.push_back({target.row, {border, target.end}});
    }
  }
  writer_.comment("the log's allocator refused: back to what it was");
  if (!pieces.empty()) {
    mend(pieces);
  }
  for (const Target& target : part) {
    if (target.fate == Fate::good && offset_of(target.begin) != 0) {
      emit(op::Trim{target.row, target.begin});
    }
  }
}

// ---- the answer

void Lifter::read_answer(const LogCall& call) {
  answer_.clear();
  if (!call.served) {
    return;
  }
  std::size_t due = 0;
  for (const Target& target : targets_) {
    due += static_cast<std::size_t>(target.end - target.begin);
  }
  std::int64_t recorded = 0;
  for (const LoggedRun& run : call.locs) {
    recorded += run.count;
    for (std::int64_t i = 0; i < run.count && answer_.size() < due; ++i) {
      answer_.push_back(run.first + i);
    }
  }
  if (recorded != static_cast<std::int64_t>(due)) {
    violation("PAGE_LAYOUT", "the answer has the wrong number of locs", fmt::format("{}", due),
              fmt::format("{}", recorded));
    answer_.resize(due, -1);
  }
}

/// Pages that are lent again went back in calls that are missing.
void Lifter::give_back_relent() {
  for (const Target& target : targets_) {
    for (Pos pos = target.begin; pos < target.end && !answer_.empty(); pos = (pos | (geo_.page - 1)) + 1) {
      const std::int64_t number = page_of(answer_[target.first_loc + static_cast<std::size_t>(pos - target.begin)]);
      if (offset_of(pos) != 0 || !pages_.exists(number)) {
        continue;
      }
      const LogPage page = pages_.at(number);
      if (page.standing != PageStanding::lent || !page.unsure) {
        continue;
      }
      const Pos begin = position_of(page, 0);
      const Pos end = std::min(begin + geo_.page, twin_->machine().row_length(page.row));
      note(fmt::format("page {} was given back in calls that are missing", number));
      doubt();
      mend({{page.row, {begin, end}}});
      pages_.give_back(number, twin_->machine().group_open(), place_.n);
    }
  }
}

void Lifter::attach(bool followed) {
  for (const Target& target : targets_) {
    attach(target, followed && target.fate == Fate::good);
  }
}

void Lifter::attach(const Target& target, bool followed) {
  for (Pos pos = target.begin; pos < target.end;) {
    const Pos run_end = std::min(target.end, (pos | (geo_.page - 1)) + 1);
    const std::size_t at = target.first_loc + static_cast<std::size_t>(pos - target.begin);
    const bool rest = offset_of(pos) != 0 && pos == target.begin;
    const Loc first = rest ? target.last_loc + 1 : answer_[at];
    for (std::size_t i = 0; i < static_cast<std::size_t>(run_end - pos); ++i) {
      const Loc want = first + static_cast<Loc>(i);
      if (answer_[at + i] != want) {
        violation("PAGE_LAYOUT", fmt::format("loc {} of the answer does not follow on in its page", at + i),
                  fmt::format("{}", want), fmt::format("{}", answer_[at + i]));
        break;
      }
    }
    if (!rest) {
      take_page(target, pos, first, followed);
    }
    pos = run_end;
  }
}

/// A page of the answer: it exists, begins at its first slot, and was free.
void Lifter::take_page(const Target& target, Pos pos, Loc first, bool followed) {
  const std::int64_t number = page_of(first);
  if (!pages_.exists(number)) {
    violation(number == 0 ? "SENTINEL_UNTOUCHED" : "FREE_LIST_CLEAN",
              number == 0 ? fmt::format("loc {} of page 0 was lent", first)
                          : fmt::format("loc {} was lent and lies outside of the pool", first),
              fmt::format("a loc of pages 1..{}", pages_.page_count()), fmt::format("{}", first));
    return;
  }
  if (offset_of(first) != 0) {
    violation("PAGE_LAYOUT", "a new page does not begin at its first slot", fmt::format("{}", number << shift_),
              fmt::format("{}", first));
  }
  LogPage& page = pages_.at(number);
  const bool lent = page.standing == PageStanding::lent || page.standing == PageStanding::outside;
  const bool deferred = page.standing == PageStanding::deferred;
  if ((lent || deferred) && page.tainted) {
    doubt();
  } else if ((lent || deferred) && !page.unsure) {
    violation(lent ? "NO_DOUBLE_LEND" : "GROUP_DEFERS",
              fmt::format("page {} (locs {}..{}) was lent while it {}", number, number << shift_,
                          ((number + 1) << shift_) - 1,
                          lent ? fmt::format("is lent since call {}", page.since)
                               : fmt::format("waits for the end of the free group since call {}", page.since)),
              "a free page", fmt::format("page {}", number));
    page.tainted = true;
  }
  if (followed) {
    pages_.lend(number, {target.row, static_cast<std::uint32_t>(pos >> shift_)}, place_.n);
  } else if (!lent) {
    page.standing = PageStanding::outside;
    page.since = place_.n;
  }
}

}  // namespace poolproof
