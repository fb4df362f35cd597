// Reductions that take two ops or two rows together, so that a trace says in fewer ops what it said in more.
#include <algorithm>
#include <optional>
#include <utility>

#include "props/op_parts.hpp"
#include "props/reductions.hpp"

namespace poolproof {
namespace {

/// Longer traces have too many orders to try.
constexpr std::size_t most_ordered_ops = 9;
/// Nor do pairs of rows pay before the single steps have done their part.
constexpr std::size_t most_joined_ops = 48;

/// Names of one row, `by` positions further on.
void move_row(Op& op, Row from, Row to, Pos by) {
  const auto moved = [by](Range& range) {
    range.begin += by;
    range.end += by;
  };
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.pieces; }) {
          for (Piece& piece : concrete.pieces) {
            if (piece.row == from) {
              piece.row = to;
              moved(piece.range);
            }
          }
        } else if constexpr (requires { concrete.row; }) {
          if (concrete.row == from) {
            concrete.row = to;
            each_range(op, moved);
            if constexpr (requires { concrete.length; }) {
              concrete.length += by;
            }
          }
        } else if constexpr (requires { concrete.rows; }) {
          std::replace(concrete.rows.begin(), concrete.rows.end(), from, to);
        } else if constexpr (requires { concrete.from_begin; }) {
          if (concrete.to == from) {
            concrete.to = to;
            moved(concrete.range);
          }
          if (concrete.from == from) {
            concrete.from = to;
            concrete.from_begin += by;
          }
        } else if constexpr (requires { concrete.to; }) {
          concrete.to = concrete.to == from ? to : concrete.to;
          concrete.from = concrete.from == from ? to : concrete.from;
        }
      },
      op);
}

/// A row shares nothing with itself.
bool copies_itself(const Op& op) {
  const auto* copy = std::get_if<op::Copy>(&op);
  return copy != nullptr && copy->to == copy->from;
}

/// How far a row's positions go, as far as ops say.
Pos reach_of(const Trace& trace, Row row) {
  Pos reach = 0;
  for (const Op& op : trace.ops) {
    bool named = false;
    each_row(op, [&](Row any) { named = named || any == row; });
    if (named) {
      each_range(op, [&](const Range& range) { reach = std::max(reach, range.end); });
    }
  }
  return reach;
}

/// One row plays another's part too: at its own positions, or behind them.
void add_merged_rows(const Trace& trace, std::vector<Trace>& out) {
  const std::vector<Row> rows = rows_of(trace);
  for (const Row from : rows) {
    for (const Row to : rows) {
      const Pos behind = (reach_of(trace, to) + trace.geometry.page - 1) / trace.geometry.page * trace.geometry.page;
      for (const Pos by : {Pos{0}, behind}) {
        if (from == to) {
          continue;
        }
        Trace merged = trace;
        for (Op& op : merged.ops) {
          move_row(op, from, to, by);
        }
        std::erase_if(merged.ops, copies_itself);
        out.push_back(std::move(merged));
      }
    }
  }
}

/// The pool from the start as the last `resize` makes it; what came before that is forgotten by it anyway.
void add_settled_size(const Trace& trace, std::vector<Trace>& out) {
  for (std::size_t i = trace.ops.size(); i-- > 0;) {
    if (const auto* resize = std::get_if<op::Resize>(&trace.ops[i])) {
      Trace settled = trace;
      settled.geometry.full = resize->full;
      settled.geometry.swa = settled.geometry.hybrid() ? resize->swa : 0;
      settled.ops.erase(settled.ops.begin(), settled.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      out.push_back(std::move(settled));
      return;
    }
  }
}

const op::Extend* extend_of(const Op& op) { return std::get_if<op::Extend>(&op); }

/// Two extends as one batch.
void add_batches(const Trace& trace, std::vector<Trace>& out) {
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    for (std::size_t j = i + 1; extend_of(trace.ops[i]) != nullptr && j < trace.ops.size(); ++j) {
      const op::Extend* second = extend_of(trace.ops[j]);
      if (second == nullptr) {
        continue;
      }
      Trace batch = trace;
      auto& pieces = std::get<op::Extend>(batch.ops[i]).pieces;
      pieces.insert(pieces.end(), second->pieces.begin(), second->pieces.end());
      batch.ops.erase(batch.ops.begin() + static_cast<std::ptrdiff_t>(j));
      out.push_back(std::move(batch));
      break;
    }
  }
}

/// The range of a lending of one row.
std::optional<Piece> lent_piece(const Op& op) {
  if (const auto* extend = extend_of(op); extend != nullptr && extend->pieces.size() == 1) {
    return extend->pieces.front();
  }
  if (const auto* alloc = std::get_if<op::Alloc>(&op)) {
    return Piece{alloc->row, alloc->range};
  }
  if (const auto* tail = std::get_if<op::Tail>(&op)) {
    return Piece{tail->row, tail->range};
  }
  return std::nullopt;
}

bool evicts(const Op& op) {
  const OpWord word = word_of(op);
  return word == OpWord::free_swa || word == OpWord::free_swa_segment;
}

/// A page that is lent and then evicted, lent without a peer instead, with a page more that has one, before or behind
/// it, in pools a page larger.
void add_lent_tombstones(const Trace& trace, std::vector<Trace>& out) {
  const Geometry& g = trace.geometry;
  for (std::size_t evict = 0; g.paired() && evict < trace.ops.size(); ++evict) {
    for (std::size_t lend = 0; evicts(trace.ops[evict]) && lend < evict; ++lend) {
      const std::optional<Piece> piece = lent_piece(trace.ops[lend]);
      if (!piece || piece->range.begin % g.page != 0) {
        continue;
      }
      for (const bool before : {false, true}) {
        Trace lent = trace;
        lent.ops.erase(lent.ops.begin() + static_cast<std::ptrdiff_t>(evict));
        const Pos begin = piece->range.begin;
        const Pos end = (piece->range.end + g.page - 1) / g.page * g.page;
        const Range peered = before ? Range{begin, begin + g.page} : Range{end, end + g.page};
        lent.ops[lend] = op::Tail{piece->row, {begin, end + g.page}, peered};
        lent.geometry.full += g.page;
        lent.geometry.swa += g.page;
        out.push_back(lent);
        // What named the tombstone behind the new page names it where it is now; what it took from itself it takes
        // from there.
        for (std::size_t i = lend + 1; before && i < lent.ops.size(); ++i) {
          move_row(lent.ops[i], piece->row, piece->row, g.page);
          if (auto* remap = std::get_if<op::Remap>(&lent.ops[i]); remap != nullptr && remap->to == piece->row) {
            remap->from = piece->row;
            remap->from_begin = begin;
          }
        }
        if (before) {
          out.push_back(std::move(lent));
        }
      }
    }
  }
}

}  // namespace

std::vector<Trace> row_reductions(const Trace& trace) {
  std::vector<Trace> out;
  add_settled_size(trace, out);
  if (trace.ops.size() > most_joined_ops) {
    return out;
  }
  add_merged_rows(trace, out);
  add_batches(trace, out);
  add_lent_tombstones(trace, out);
  return out;
}

std::vector<Trace> order_reductions(const Trace& trace) {
  std::vector<Trace> out;
  const std::size_t count = trace.ops.size();
  for (std::size_t from = 0; count <= most_ordered_ops && from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (to == from) {
        continue;
      }
      Trace moved = trace;
      Op op = std::move(moved.ops[from]);
      moved.ops.erase(moved.ops.begin() + static_cast<std::ptrdiff_t>(from));
      moved.ops.insert(moved.ops.begin() + static_cast<std::ptrdiff_t>(to), std::move(op));
      for (std::size_t less = 0; less < count; ++less) {
        Trace shorter = moved;
        shorter.ops.erase(shorter.ops.begin() + static_cast<std::ptrdiff_t>(less));
        out.push_back(std::move(shorter));
      }
    }
  }
  return out;
}

}  // namespace poolproof
