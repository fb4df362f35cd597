// The rows and ranges that an op names, whatever its kind.
#pragma once

#include <variant>

#include "model/ops.hpp"

namespace poolproof {

/// Calls `f` with each range of an op (const or not, as the op is).
template <typename AnyOp, typename F>
void each_range(AnyOp& op, F f) {
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.pieces; }) {
          for (auto& piece : concrete.pieces) {
            f(piece.range);
          }
        } else if constexpr (requires { concrete.ranges; }) {
          for (auto& range : concrete.ranges) {
            f(range);
          }
        } else if constexpr (requires { concrete.range; }) {
          f(concrete.range);
        }
        if constexpr (requires { concrete.swa.begin; }) {
          f(concrete.swa);
        }
      },
      op);
}

/// Calls `f` with each row number of an op.
template <typename AnyOp, typename F>
void each_row(AnyOp& op, F f) {
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.pieces; }) {
          for (auto& piece : concrete.pieces) {
            f(piece.row);
          }
        } else if constexpr (requires { concrete.rows; }) {
          for (auto& row : concrete.rows) {
            f(row);
          }
        } else if constexpr (requires { concrete.row; }) {
          f(concrete.row);
        } else if constexpr (requires { concrete.to; }) {
          f(concrete.to);
          f(concrete.from);
        }
      },
      op);
}

}  // namespace poolproof
