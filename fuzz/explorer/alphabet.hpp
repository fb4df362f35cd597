// The ops of a scope: every one that some state of it may take. Which of them a state takes is the reference machine's
// word; a look at lengths and live positions spares it most of those that it would turn away.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fuzz/explorer/scope.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// Number of an op in its alphabet.
using MoveIndex = std::uint16_t;

/// The rows of a machine, as far as ops hang on them. A bit a position.
class RowsView {
 public:
  struct Line {
    Pos length = 0;
    Pos frontier = 0;
    bool slot = false;
    std::uint64_t live = 0;
    std::uint64_t peers = 0;   ///< live, with a live peer; where there are peers
    std::uint64_t shared = 0;  ///< live, on a page that another row holds too
  };

  void look(const Machine& machine, Row rows);
  [[nodiscard]] const Line& row(Row id) const { return lines_[id]; }

 private:
  std::array<Line, max_scope_rows> lines_;
};

class Alphabet {
 public:
  /// All ops of the scope that the implementation offers; `offered` empty: all.
  Alphabet(const Scope& scope, OpWords offered);

  [[nodiscard]] std::size_t size() const { return moves_.size(); }
  [[nodiscard]] const Op& op(MoveIndex move) const { return moves_[move].op; }
  /// More ops than can be numbered: it has none then.
  [[nodiscard]] bool too_large() const { return too_large_; }

  /// Ops that the machine may admit where it stands, ascending: all that it admits, and few others.
  void candidates(const Machine& machine, std::vector<MoveIndex>& out) const;

 private:
  struct Part {
    Row row = 0;
    Range range;
    std::uint64_t mask = 0;
  };
  struct Move {
    Op op;
    OpWord word = OpWord::slot;
    std::uint8_t parts = 0;
    std::array<Part, max_scope_batch> part;
    std::size_t next = 0;  ///< the first move after those that share the first part
  };

  class Builder;

  [[nodiscard]] bool may_take(const Move& move, std::size_t part, const RowsView& rows, const Machine& machine) const;
  [[nodiscard]] bool frees_a_part(const Move& move, const RowsView& rows) const;
  [[nodiscard]] bool may_lend(const Move& move, const Part& part, const RowsView::Line& row) const;
  [[nodiscard]] bool may_free(Side side, const Part& part, const RowsView::Line& row) const;
  [[nodiscard]] bool whole_pages(const Part& part, const RowsView::Line& row) const;

  Scope scope_;
  std::vector<Move> moves_;
  bool too_large_ = false;
};

}  // namespace poolproof
