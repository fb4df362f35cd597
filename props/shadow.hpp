// What the generator remembers of a trace beside what the machine tells it: which rows share a page, what was written,
// what a ring still holds. Pages are known by numbers of the generator's own, so nothing depends on an implementation's
// page choices. Where exact memory would be dear it forgets: it may think that less was written than really was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/geometry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// A page by the generator's own number; 0 = none (a hole).
using PageId = std::uint32_t;

/// Positions are the same in every row that holds the page, since pages are shared at equal positions only.
struct PageMemo {
  Range written;              ///< positions whose KV is known to be stored, full layers
  Range swa_written;          ///< the same of the SWA pool's KV behind live peers
  std::uint32_t holders = 0;  ///< rows that hold the page
  bool outside_tail = false;  ///< lent without any peer, and not touched on the SWA side since
  std::uint32_t bond = 0;     ///< pages of one bond may share SWA pages (load-back); 0 = none
};

struct RowMemo {
  std::vector<PageId> pages;  ///< by page index in the row, up to the row's length
  Pos length = 0;
  Pos write_from = 0;  ///< positions below this were written, or passed over
  Range ring;          ///< positions known to be in the row's ring
  bool slot = false;
};

class Shadow {
 public:
  explicit Shadow(const Geometry& geometry) : geo_(geometry) { wipe(); }

  /// Takes in an op that was carried out; `machine` stands behind it.
  void apply(const Op& op, const Machine& machine);

  /// A row that nothing was ever done to is empty.
  [[nodiscard]] const RowMemo& row(Row row) const { return row < world_.rows.size() ? world_.rows[row] : empty_; }
  [[nodiscard]] std::int64_t row_pages(Row id) const { return static_cast<std::int64_t>(row(id).pages.size()); }
  /// 0 where the row has no page at this index.
  [[nodiscard]] PageId page_id(Row row, std::int64_t index) const;
  /// The page must exist.
  [[nodiscard]] const PageMemo& memo(PageId id) const { return world_.memos[id]; }
  /// The positions of a page of the row, up to the row's length.
  [[nodiscard]] Range page_range(Row row, std::int64_t index) const;
  /// Lowest position a such that the row holds all of [a, end).
  [[nodiscard]] Pos live_from(Row row, Pos end) const;
  /// Lowest a such that a query at end-1 may read [a, end); `end` itself when none.
  [[nodiscard]] Pos readable_from(Row row, Pos end) const;

 private:
  /// All that a snapshot keeps.
  struct World {
    std::vector<RowMemo> rows;
    std::vector<PageMemo> memos;
    std::vector<PageId> spare;
    std::uint32_t next_bond = 1;
  };
  struct Snapshot {
    std::uint32_t name = 0;
    std::uint64_t changes = 0;
    World world;
  };

  void wipe();
  void forget_kv();
  void take(const op::SlotTake& op, const Machine& machine);
  void take(const op::SlotGive& op, const Machine& machine);
  void take(const op::Alloc& op, const Machine& machine);
  void take(const op::Extend& op, const Machine& machine);
  void take(const op::Decode& op, const Machine& machine);
  void take(const op::Tail& op, const Machine& machine);
  void take(const op::Free& op, const Machine& machine);
  void take(const op::FreeSegment& op, const Machine& machine);
  void take(const op::Copy& op, const Machine& machine);
  void take(const op::Drop& op, const Machine& machine);
  void take(const op::Trim& op, const Machine& machine);
  void take(const op::Remap& op, const Machine& machine);
  void take(const op::Unmap& op, const Machine& machine);
  void take(const op::Write& op, const Machine& machine);
  void take(const op::Read& op, const Machine& machine);
  void take(const op::GroupBegin& op, const Machine& machine);
  void take(const op::GroupEnd& op, const Machine& machine);
  void take(const op::Backup& op, const Machine& machine);
  void take(const op::Restore& op, const Machine& machine);
  void take(const op::Clear& op, const Machine& machine);
  void take(const op::Resize& op, const Machine& machine);
  void take(const op::Expect& op, const Machine& machine);
  void take(const op::Pause& op, const Machine& machine);
  void take(const op::Resume& op, const Machine& machine);
  void take(const op::Destroy& op, const Machine& machine);
  void take(const op::Build& op, const Machine& machine);
  void take(const op::Flush& op, const Machine& machine);

  RowMemo& touch(Row row);
  PageMemo& memo_of(const RowMemo& row, std::int64_t index);
  void lend(Row row, Range range);
  void mark_outside(const op::Tail& op);
  void release(Side side, const Piece& piece);
  void let_go(Row row, Range range);
  void forget_swa(Row row, Range range);
  void shorten(RowMemo& row);
  void write_page(Row row, std::int64_t index, Range range, const Machine& machine);
  void write_ring(RowMemo& row, Range range) const;
  void join(const op::Remap& op);
  void move_written(const op::Remap& op);
  [[nodiscard]] bool swa_written(Row row, Range range) const;
  [[nodiscard]] Pos page_readable_from(const PageMemo& page, Range range, Pos window_begin) const;

  Geometry geo_;
  World world_;
  RowMemo empty_;
  std::vector<Snapshot> snapshots_;
  std::uint64_t changes_ = 0;  ///< ops after which a restored snapshot's KV can no longer be relied on
};

}  // namespace poolproof
