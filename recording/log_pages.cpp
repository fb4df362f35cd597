#include "recording/log_pages.hpp"

#include <algorithm>
#include <utility>

namespace poolproof {
namespace {

/// Rows rest this long before they are used again: a second free of what a row gave up can then still be said.
constexpr std::size_t resting_rows = 256;

}  // namespace

void LogPages::reset(std::int64_t pages) {
  pages_.assign(static_cast<std::size_t>(pages) + 1, LogPage{});
  deferred_.clear();
  also_lent_.clear();
  free_rows_.clear();
  for (Row row = 0; row < rows_.size(); ++row) {
    rows_[row] = RowUse{};
    free_rows_.push_back(row);
  }
}

void LogPages::lend(std::int64_t number, PageOwner owner, std::uint64_t call) {
  LogPage& page = at(number);
  if (page.standing == PageStanding::lent) {
    also_lent_[number].push_back({page.row, page.index});
  }
  page.row = owner.row;
  page.index = owner.index;
  page.since = call;
  page.standing = PageStanding::lent;
  page.unsure = false;
  page.swa_unknown = false;
  ++rows_[owner.row].pages;
}

void LogPages::give_back(std::int64_t number, bool deferred, std::uint64_t call) {
  LogPage& page = at(number);
  if (page.standing == PageStanding::lent) {
    --rows_[page.row].pages;
    release_if_empty(page.row);
  }
  page.since = call;
  page.unsure = false;
  const auto former = also_lent_.find(number);
  if (former != also_lent_.end()) {
    page.row = former->second.back().row;
    page.index = former->second.back().index;
    page.standing = PageStanding::lent;
    former->second.pop_back();
    if (former->second.empty()) {
      also_lent_.erase(former);
    }
    return;
  }
  page.standing = deferred ? PageStanding::deferred : PageStanding::freed;
  if (deferred) {
    deferred_.push_back(number);
  }
}

void LogPages::move(std::int64_t number, Row row) {
  LogPage& page = at(number);
  const Row former = std::exchange(page.row, row);
  ++rows_[row].pages;
  --rows_[former].pages;
  release_if_empty(former);
}

void LogPages::credit_deferred() {
  for (const std::int64_t number : deferred_) {
    if (at(number).standing == PageStanding::deferred) {
      at(number).standing = PageStanding::freed;
    }
  }
  deferred_.clear();
}

void LogPages::doubt_all() {
  for (LogPage& page : pages_) {
    page.unsure = true;
  }
}

std::optional<Row> LogPages::take_row() {
  const bool rested = free_rows_.size() > resting_rows || rows_.size() == max_rows;
  if (rested && !free_rows_.empty()) {
    const Row row = free_rows_.front();
    free_rows_.pop_front();
    rows_[row].taken = true;
    return row;
  }
  if (rows_.size() == max_rows) {
    return std::nullopt;
  }
  rows_.push_back({0, false, true});
  return static_cast<Row>(rows_.size() - 1);
}

void LogPages::return_row(Row row) {
  if (row < rows_.size()) {
    release_if_empty(row);
  }
}

void LogPages::release_if_empty(Row row) {
  RowUse& use = rows_[row];
  if (use.taken && use.pages == 0 && !use.slot) {
    use.taken = false;
    free_rows_.push_back(row);
  }
}

std::optional<Row> LogPages::unused_row() const {
  return rows_.size() < max_rows ? std::optional(static_cast<Row>(rows_.size())) : std::nullopt;
}

void LogPages::drop_slot(Row row) {
  rows_[row].slot = false;
  release_if_empty(row);
}

LogPages::Snapshot LogPages::snapshot() const {
  Snapshot snapshot{pages_, {}, also_lent_};
  for (const RowUse& use : rows_) {
    snapshot.row_pages.push_back(use.pages);
  }
  return snapshot;
}

void LogPages::restore(const Snapshot& snapshot) {
  pages_ = snapshot.pages;
  also_lent_ = snapshot.also_lent;
  deferred_.clear();
  free_rows_.clear();
  for (Row row = 0; row < rows_.size(); ++row) {
    RowUse& use = rows_[row];
    use.pages = row < snapshot.row_pages.size() ? snapshot.row_pages[row] : 0;
    use.taken = use.pages > 0 || use.slot;
    if (!use.taken) {
      free_rows_.push_back(row);
    }
  }
}

}  // namespace poolproof
