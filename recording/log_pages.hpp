// Who has which page, as the log tells it: the log's locs on one side, the trace's rows on the other.
//
// A page belongs to the lending that gave it: to one row and to one place in it. How many tokens of it are live is the
// reference machine's to say. Memory is a few words a page of the pool, and a word a row.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "model/ops.hpp"
#include "model/units.hpp"

namespace poolproof {

enum class PageStanding : std::uint8_t {
  never,     ///< not lent so far
  lent,      ///< to a row of the trace
  outside,   ///< lent in the log, and the trace could not follow
  deferred,  ///< given back inside the open group
  freed,
};

struct LogPage {
  std::uint64_t since = 0;  ///< call that made it what it is
  Row row = 0;              ///< of its present, else of its last lending
  std::uint32_t index = 0;  ///< its place in the row, in pages
  PageStanding standing = PageStanding::never;
  bool unsure = false;       ///< calls that may have changed it are not in the log
  bool tainted = false;      ///< a caller's fault or a wrong lending touched it: what follows is a consequence
  bool swa_unknown = false;  ///< whether its SWA half is live is not known
};

struct PageOwner {
  Row row = 0;
  std::uint32_t index = 0;
};

class LogPages {
 public:
  /// All pages as new and sure; all rows free.
  void reset(std::int64_t pages);

  [[nodiscard]] bool exists(std::int64_t page) const {
    return page > 0 && page < static_cast<std::int64_t>(pages_.size());
  }
  LogPage& at(std::int64_t page) { return pages_[static_cast<std::size_t>(page)]; }
  [[nodiscard]] const LogPage& at(std::int64_t page) const { return pages_[static_cast<std::size_t>(page)]; }
  [[nodiscard]] std::int64_t page_count() const { return static_cast<std::int64_t>(pages_.size()) - 1; }

  /// The page was lent to the row. When it has an owner already, that one is remembered until it gives the page back.
  void lend(std::int64_t page, PageOwner owner, std::uint64_t call);
  /// The row no longer has it; an owner from before a double lending takes its place.
  void give_back(std::int64_t page, bool deferred, std::uint64_t call);
  /// The page is the row's now, at the same place.
  void move(std::int64_t page, Row row);
  /// The open group ended.
  void credit_deferred();
  /// Calls are missing: nothing is sure any more.
  void doubt_all();

  /// A row that holds nothing. Nothing when all rows of the language hold something.
  std::optional<Row> take_row();
  void return_row(Row row);
  /// A row that no op has named yet, to blame a caller with.
  [[nodiscard]] std::optional<Row> unused_row() const;
  void hold_slot(Row row) { rows_[row].slot = true; }
  /// The row's slot went back.
  void drop_slot(Row row);

  /// Everything but slots, for backup_state.
  struct Snapshot {
    std::vector<LogPage> pages;
    std::vector<std::uint32_t> row_pages;
    std::map<std::int64_t, std::vector<PageOwner>> also_lent;
  };
  [[nodiscard]] Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

  [[nodiscard]] std::size_t rows_used() const { return rows_.size(); }

 private:
  struct RowUse {
    std::uint32_t pages = 0;
    bool slot = false;
    bool taken = false;
  };
  void release_if_empty(Row row);

  std::vector<LogPage> pages_{LogPage{}};
  std::vector<RowUse> rows_;
  std::deque<Row> free_rows_;
  std::vector<std::int64_t> deferred_;
  std::map<std::int64_t, std::vector<PageOwner>> also_lent_;
};

}  // namespace poolproof
