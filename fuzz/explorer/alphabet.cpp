#include "fuzz/explorer/alphabet.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace poolproof {
namespace {

std::uint64_t bits_of(Range range) {
  const std::uint64_t below_end = (std::uint64_t{1} << static_cast<unsigned>(range.end)) - 1;
  return below_end & ~((std::uint64_t{1} << static_cast<unsigned>(range.begin)) - 1);
}

Side side_of(OpWord word) {
  switch (word) {
    case OpWord::free_swa:
    case OpWord::free_swa_segment:
      return Side::swa;
    case OpWord::free_full:
    case OpWord::free_full_segment:
      return Side::full;
    default:
      return Side::both;
  }
}

}  // namespace

void RowsView::look(const Machine& machine, Row rows) {
  for (Row id = 0; id < rows; ++id) {
    Line& line = lines_[id];
    line = {machine.row_length(id), machine.row_frontier(id), machine.row_has_slot(id)};
    for (Pos pos = 0; pos < line.length; ++pos) {
      const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(pos);
      if (!machine.row_live(id, pos)) {
        continue;
      }
      line.live |= bit;
      line.peers |= machine.row_peer_live(id, pos) ? bit : 0;
      line.shared |= machine.row_holders(id, pos) > 1 ? bit : 0;
    }
  }
}

/// Goes through rows and ranges; what op_fault rejects never becomes a move.
class Alphabet::Builder {
 public:
  Builder(Alphabet& alphabet, OpWords offered) : all_(alphabet), scope_(alphabet.scope_), offered_(offered) {}

  void build() {
    for (Row row = 0; row < scope_.rows; ++row) {
      add(OpWord::slot, op::SlotTake{row}, {part(row)});
      add(OpWord::unslot, op::SlotGive{row}, {part(row)});
    }
    lendings();
    frees(OpWord::free, Side::both);
    frees(OpWord::free_swa, Side::swa);
    frees(OpWord::free_full, Side::full);
    segments(OpWord::free_segment, Side::both);
    segments(OpWord::free_swa_segment, Side::swa);
    segments(OpWord::free_full_segment, Side::full);
    sharing();
    load_backs();
    data();
    whole_state();
    close_blocks();
  }

 private:
  [[nodiscard]] Tokens page() const { return scope_.geometry.page; }
  static Part part(Row row, Range range = {}) { return {row, range, bits_of(range)}; }

  template <typename Each>
  void ranges(Tokens begin_step, Tokens end_step, const Each& each) const {
    for (Pos begin = 0; begin < scope_.positions; begin += begin_step) {
      for (Pos end = begin + end_step; end <= scope_.positions; end += end_step) {
        each(Range{begin, end});
      }
    }
  }

  void add(OpWord word, Op op, const std::vector<Part>& parts) {
    const auto bit = static_cast<std::size_t>(word);
    if (!scope_.words.test(bit) || (offered_.any() && !offered_.test(bit)) || op_fault(op, scope_.geometry)) {
      return;
    }
    if (all_.moves_.size() > std::numeric_limits<MoveIndex>::max()) {
      all_.too_large_ = true;
      return;
    }
    Move move;
    move.op = std::move(op);
    move.word = word;
    move.parts = static_cast<std::uint8_t>(parts.size());
    std::copy(parts.begin(), parts.end(), move.part.begin());
    all_.moves_.push_back(std::move(move));
  }

  void lendings() {
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(page(), page(), [&](Range range) { add(OpWord::alloc, op::Alloc{row, range}, {part(row, range)}); });
    }
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(1, 1, [&](Range range) {
        add(OpWord::extend, op::Extend{{{row, range}}}, {part(row, range)});
        second_extends(row, range);
      });
    }
    std::vector<Row> rows;
    decodes(rows);
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(1, 1, [&](Range range) {
        for (Pos begin = range.begin; begin < range.end; ++begin) {
          for (Pos end = begin + 1; end <= range.end; ++end) {
            add(OpWord::tail, op::Tail{row, range, {begin, end}}, {part(row, range)});
          }
        }
      });
    }
  }

  void second_extends(Row first, Range first_range) {
    for (Row row = 0; scope_.batch > 1 && row < scope_.rows; ++row) {
      if (row != first) {
        ranges(1, 1, [&](Range range) {
          add(OpWord::extend, op::Extend{{{first, first_range}, {row, range}}},
              {part(first, first_range), part(row, range)});
        });
      }
    }
  }

  /// Every order of every choice of rows.
  void decodes(std::vector<Row>& rows) {
    if (!rows.empty()) {
      std::vector<Part> parts;
      for (const Row row : rows) {
        parts.push_back(part(row));
      }
      add(OpWord::decode, op::Decode{rows}, parts);
    }
    for (Row row = 0; rows.size() < scope_.batch && row < scope_.rows; ++row) {
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) {
        rows.push_back(row);
        decodes(rows);
        rows.pop_back();
      }
    }
  }

  void frees(OpWord word, Side side) {
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(page(), 1, [&](Range range) {
        add(word, op::Free{side, {{row, range}}}, {part(row, range)});
        for (Row other = 0; scope_.batch > 1 && other < scope_.rows; ++other) {
          ranges(page(), 1, [&](Range more) {
            add(word, op::Free{side, {{row, range}, {other, more}}}, {part(row, range), part(other, more)});
          });
        }
      });
    }
  }

  void segments(OpWord word, Side side) {
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(page(), 1, [&](Range range) {
        add(word, op::FreeSegment{side, row, {range}}, {part(row, range)});
        ranges(page(), 1, [&](Range more) {
          if (scope_.batch > 1 && more.begin >= range.end) {
            add(word, op::FreeSegment{side, row, {range, more}}, {part(row, range), part(row, more)});
          }
        });
      });
    }
  }

  void sharing() {
    for (Row to = 0; to < scope_.rows; ++to) {
      for (Row from = 0; from < scope_.rows; ++from) {
        if (to != from) {
          ranges(page(), page(), [&](Range range) {
            add(OpWord::copy, op::Copy{to, range, from}, {part(to, range), part(from, range)});
          });
        }
      }
    }
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(page(), 1, [&](Range range) { add(OpWord::drop, op::Drop{row, range}, {part(row, range)}); });
      for (Pos length = 1; length <= scope_.positions; ++length) {
        add(OpWord::trim, op::Trim{row, length}, {part(row, {0, length})});
      }
    }
  }

  void load_backs() {
    for (Row to = 0; to < scope_.rows; ++to) {
      for (Row from = 0; from < scope_.rows; ++from) {
        ranges(page(), 1, [&](Range range) {
          for (Pos begin = 0; begin + range.size() <= scope_.positions; ++begin) {
            add(OpWord::remap, op::Remap{to, range, from, begin},
                {part(to, range), part(from, {begin, begin + range.size()})});
          }
        });
      }
    }
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(1, 1, [&](Range range) { add(OpWord::unmap, op::Unmap{row, range}, {part(row, range)}); });
    }
  }

  void data() {
    for (Row row = 0; row < scope_.rows; ++row) {
      ranges(1, 1, [&](Range range) {
        add(OpWord::write, op::Write{row, range}, {part(row, range)});
        add(OpWord::read, op::Read{row, range}, {part(row, range)});
      });
    }
  }

  void whole_state() {
    add(OpWord::group_begin, op::GroupBegin{false}, {});
    add(OpWord::group_begin_again, op::GroupBegin{true}, {});
    add(OpWord::group_end, op::GroupEnd{false}, {});
    add(OpWord::group_end_again, op::GroupEnd{true}, {});
    add(OpWord::backup, op::Backup{0}, {});
    add(OpWord::restore, op::Restore{0}, {});
    add(OpWord::clear, op::Clear{}, {});
    const Geometry& g = scope_.geometry;
    add(OpWord::resize, op::Resize{g.full, g.swa}, {});
    if (g.full_pages() > 1 && g.swa_pages() != 1) {
      add(OpWord::resize, op::Resize{g.full - g.page, g.hybrid() ? g.swa - g.page : 0}, {});
    }
  }

  /// From the back: where the first part changes, a new block begins.
  void close_blocks() {
    std::vector<Move>& moves = all_.moves_;
    for (std::size_t i = moves.size(); i-- > 0;) {
      const bool last = i + 1 == moves.size();
      moves[i].next = last || !same_start(moves[i], moves[i + 1]) ? i + 1 : moves[i + 1].next;
    }
  }
  static bool same_start(const Move& a, const Move& b) {
    return a.word == b.word && a.parts > 0 && b.parts > 0 && a.part[0].row == b.part[0].row &&
           a.part[0].range == b.part[0].range;
  }

  Alphabet& all_;
  const Scope& scope_;
  OpWords offered_;
};

Alphabet::Alphabet(const Scope& scope, OpWords offered) : scope_(scope) {
  Builder(*this, offered).build();
  if (too_large_) {
    moves_.clear();
  }
}

bool Alphabet::may_lend(const Move& move, const Part& part, const RowsView::Line& row) const {
  const bool continues = move.word == OpWord::extend || move.word == OpWord::decode;
  const Pos begin = move.word == OpWord::decode ? row.length : part.range.begin;
  if (begin != row.length || begin >= scope_.positions) {
    return false;
  }
  return !continues || !scope_.geometry.paired() || begin == 0 ||
         (row.peers >> static_cast<unsigned>(begin - 1) & 1U) != 0;
}

/// The range ends with a page, or with the row's tokens; it begins with a page.
bool Alphabet::whole_pages(const Part& part, const RowsView::Line& row) const {
  return part.range.end % scope_.geometry.page == 0 || part.range.end == row.length;
}

bool Alphabet::may_free(Side side, const Part& part, const RowsView::Line& row) const {
  const Geometry& g = scope_.geometry;
  if ((row.live & part.mask) != part.mask) {
    return false;
  }
  if (side == Side::full && g.paired()) {
    return (row.peers & part.mask) == 0;
  }
  if (side == Side::swa && row.slot) {
    const Pos bound = std::max<Pos>(0, row.length - g.window) & ~(g.page - 1);
    return part.range.end <= bound && part.range.begin >= row.frontier;
  }
  return true;
}

bool Alphabet::may_take(const Move& move, std::size_t index, const RowsView& rows, const Machine& machine) const {
  const Part& part = move.part[index];
  const RowsView::Line& row = rows.row(part.row);
  const Geometry& g = scope_.geometry;
  const bool live = (row.live & part.mask) == part.mask;
  switch (move.word) {
    case OpWord::slot:
      return !row.slot;
    case OpWord::unslot:
      return row.slot;
    case OpWord::alloc:
    case OpWord::extend:
    case OpWord::decode:
    case OpWord::tail:
      return may_lend(move, part, row);
    case OpWord::free:
    case OpWord::free_swa:
    case OpWord::free_full:
    case OpWord::free_segment:
    case OpWord::free_swa_segment:
    case OpWord::free_full_segment:
      return may_free(side_of(move.word), part, row);
    case OpWord::copy:
      return index == 0 ? row.length == part.range.begin : live;
    case OpWord::drop:
      return live && whole_pages(part, row) && (row.shared & part.mask) == part.mask;
    case OpWord::trim:
      return part.range.end <= row.length && g.pages_of(part.range.end) == g.pages_of(row.length);
    case OpWord::remap:
      if (!live || (index == 0 && !whole_pages(part, row))) {
        return false;
      }
      if (g.ringed()) {
        return index == 0 || row.slot;
      }
      return index == 0 ? (row.peers & part.mask) == 0
                        : (row.peers & part.mask) == part.mask && (row.shared & part.mask) == 0;
    case OpWord::unmap:
      return live && (row.peers & part.mask) == 0;
    case OpWord::write:
    case OpWord::read:
      // What a forward pass does: it stores and reads up to the row's end.
      return live && part.range.end == row.length && (!g.ringed() || row.slot);
    case OpWord::group_begin:
    case OpWord::group_end_again:
    case OpWord::backup:
    case OpWord::clear:
    case OpWord::resize:
      return !machine.group_open();
    case OpWord::group_begin_again:
    case OpWord::group_end:
      return machine.group_open();
    case OpWord::restore:
      return !machine.group_open() && machine.has_backup(0);
    default:
      return true;
  }
}

/// Pieces give back whole pages that nobody else holds, each for itself or together with another.
bool Alphabet::frees_a_part(const Move& move, const RowsView& rows) const {
  if (move.word < OpWord::free || move.word > OpWord::free_full_segment) {
    return false;
  }
  const bool nothing = scope_.geometry.layout == Layout::pure_swa && side_of(move.word) == Side::full;
  const std::span<const Part> parts(move.part.data(), move.parts);
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    const RowsView::Line& row = rows.row(part.row);
    const auto other = [&](const auto& condition) { return std::any_of(parts.begin(), parts.end(), condition); };
    const bool whole =
        whole_pages(part, row) || other([&](const Part& next) {
          return next.row == part.row && next.range.begin <= part.range.end && next.range.end > part.range.end;
        });
    const bool shared = !nothing && (row.shared & part.mask) != 0;
    return !whole || (shared && !other([&](const Part& next) { return next.row != part.row; }));
  });
}

void Alphabet::candidates(const Machine& machine, std::vector<MoveIndex>& out) const {
  out.clear();
  RowsView rows;
  rows.look(machine, scope_.rows);
  for (std::size_t i = 0; i < moves_.size();) {
    const Move& move = moves_[i];
    if (!may_take(move, 0, rows, machine)) {
      i = move.next;
      continue;
    }
    bool all = !frees_a_part(move, rows);
    for (std::size_t part = 1; all && part < move.parts; ++part) {
      all = may_take(move, part, rows, machine);
    }
    if (all) {
      out.push_back(static_cast<MoveIndex>(i));
    }
    ++i;
  }
}

}  // namespace poolproof
