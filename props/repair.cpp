// Mending ops of a shrunk candidate, so that only protocol-correct traces remain: what earlier ops no longer provide is
// clipped off, what must go on from a row's end is moved there, and what cannot stand at all is left out.
#include <algorithm>

#include "props/lockstep.hpp"

namespace poolproof {
namespace {

class Repair {
 public:
  explicit Repair(Machine& machine) : machine_(machine), page_(machine.geometry().page) {}

  std::optional<Op> operator()(const op::Alloc& op) {
    const Pos begin = machine_.row_length(op.row);
    return whole(op::Alloc{op.row, {begin, begin + op.range.size()}});
  }

  std::optional<Op> operator()(const op::Extend& op) {
    op::Extend mended;
    for (const Piece& piece : op.pieces) {
      const Pos begin = machine_.row_length(piece.row);
      mended.pieces.push_back({piece.row, {begin, begin + piece.range.size()}});
      keep_if_admitted(mended, mended.pieces);
    }
    return mended.pieces.empty() ? std::nullopt : whole(std::move(mended));
  }

  std::optional<Op> operator()(const op::Decode& op) {
    op::Decode mended;
    for (const Row row : op.rows) {
      mended.rows.push_back(row);
      keep_if_admitted(mended, mended.rows);
    }
    return mended.rows.empty() ? std::nullopt : whole(std::move(mended));
  }

  std::optional<Op> operator()(const op::Tail& op) {
    const Pos move = machine_.row_length(op.row) - op.range.begin;
    const Range range{op.range.begin + move, op.range.end + move};
    const Pos begin = std::max(range.begin, op.swa.begin + move);
    const Pos aligned = (begin + page_ - 1) / page_ * page_;
    return whole(op::Tail{op.row, range, {aligned, std::max(aligned + 1, op.swa.end + move)}});
  }

  /// Pieces are mended one by one; a page that only one call may release stays whole only with all of them, so the
  /// whole list is tried first.
  std::optional<Op> operator()(const op::Free& op) {
    op::Free mended{op.side, {}};
    for (const Piece& piece : op.pieces) {
      if (const std::optional<Range> range = live_part(piece.row, piece.range)) {
        mended.pieces.push_back({piece.row, *range});
      }
    }
    if (mended.pieces.empty()) {
      return std::nullopt;
    }
    if (std::optional<Op> all = whole(mended)) {
      return all;
    }
    op::Free some{op.side, {}};
    for (const Piece& piece : mended.pieces) {
      some.pieces.push_back(piece);
      keep_if_admitted(some, some.pieces);
    }
    return some.pieces.empty() ? std::nullopt : whole(std::move(some));
  }

  std::optional<Op> operator()(const op::FreeSegment& op) {
    op::FreeSegment mended{op.side, op.row, {}};
    for (const Range& range : op.ranges) {
      if (const std::optional<Range> live = live_part(op.row, range)) {
        mended.ranges.push_back(*live);
        keep_if_admitted(mended, mended.ranges);
      }
    }
    return mended.ranges.empty() ? std::nullopt : whole(std::move(mended));
  }

  std::optional<Op> operator()(const op::Copy& op) {
    const Pos begin = machine_.row_length(op.to);
    const Pos end = std::min(op.range.end, machine_.row_length(op.from)) / page_ * page_;
    return whole(op::Copy{op.to, {begin, end}, op.from});
  }

  std::optional<Op> operator()(const op::Drop& op) {
    const std::optional<Range> range = live_part(op.row, op.range);
    return range ? whole(op::Drop{op.row, *range}) : std::nullopt;
  }

  std::optional<Op> operator()(const op::Trim& op) {
    const Pos length = machine_.row_length(op.row);
    return length < 2 ? std::nullopt : whole(op::Trim{op.row, std::min(op.length, length - 1)});
  }

  std::optional<Op> operator()(const op::Remap& op) {
    const Pos room =
        std::min(machine_.row_length(op.to) - op.range.begin, machine_.row_length(op.from) - op.from_begin);
    const Pos size = std::min(op.range.size(), room);
    return whole(op::Remap{op.to, {op.range.begin, op.range.begin + size}, op.from, op.from_begin});
  }

  std::optional<Op> operator()(const op::Unmap& op) {
    const std::optional<Range> range = live_part(op.row, op.range);
    return range ? whole(op::Unmap{op.row, *range}) : std::nullopt;
  }

  std::optional<Op> operator()(const op::Write& op) {
    const std::optional<Range> range = live_part(op.row, op.range);
    return range ? whole(op::Write{op.row, *range}) : std::nullopt;
  }

  /// Reads are cut from the end until what is left was written and is in reach.
  std::optional<Op> operator()(const op::Read& op) {
    std::optional<Range> range = live_part(op.row, op.range);
    for (int cuts = 0; range && range->size() > 0 && cuts < 8; ++cuts) {
      if (std::optional<Op> read = whole(op::Read{op.row, *range})) {
        return read;
      }
      range->end = range->begin + range->size() / 2;
    }
    return std::nullopt;
  }

  // Nothing to adjust: these stand or fall as they are.
  std::optional<Op> operator()(const op::SlotTake&) { return std::nullopt; }
  std::optional<Op> operator()(const op::SlotGive&) { return std::nullopt; }
  std::optional<Op> operator()(const op::GroupBegin&) { return std::nullopt; }
  std::optional<Op> operator()(const op::GroupEnd&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Backup&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Restore&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Clear&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Resize&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Expect&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Pause&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Resume&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Destroy&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Build&) { return std::nullopt; }
  std::optional<Op> operator()(const op::Flush&) { return std::nullopt; }

 private:
  std::optional<Op> whole(Op op) {
    if (op_fault(op, machine_.geometry()) || !machine_.admits(op)) {
      return std::nullopt;
    }
    return op;
  }

  /// Takes the last part of the op away again when the op is not admitted with it.
  template <typename Concrete, typename Parts>
  void keep_if_admitted(const Concrete& op, Parts& parts) {
    if (op_fault(op, machine_.geometry()) || !machine_.admits(op)) {
      parts.pop_back();
    }
  }

  /// The first live run of the range, rounded out to whole pages as far as the row goes. A range that lies behind the
  /// row's end, since an op before it is gone, is moved to the end.
  std::optional<Range> live_part(Row row, Range range) {
    const Pos length = machine_.row_length(row);
    if (range.begin >= length) {
      range = {std::max<Pos>(0, length - range.size()) / page_ * page_, length};
    }
    Pos begin = range.begin;
    while (begin < std::min(range.end, length) && !machine_.row_live(row, begin)) {
      begin = (begin / page_ + 1) * page_;
    }
    Pos end = begin;
    while (end < std::min(range.end, length) && machine_.row_live(row, end)) {
      end = std::min((end / page_ + 1) * page_, length);
    }
    return begin < end ? std::optional<Range>({begin, end}) : std::nullopt;
  }

  Machine& machine_;
  Tokens page_;
};

}  // namespace

std::optional<Op> repair_op(const Op& op, Machine& machine) {
  Repair repair(machine);
  return std::visit(repair, op);
}

}  // namespace poolproof
