// The words that every room shares: locs, positions, rows, sides.
//
// Terms are those of the serving engines (docs/semantics.md, section 1): a *loc* is the index of one token's KV in a
// pool, a *position* is a token's place in its request, a *row* is one request's (or cached prefix's) locs by position.
#pragma once

#include <cstdint>
#include <vector>

namespace poolproof {

/// Index of one token's KV in a pool. 0 is padding; -1 is "no last loc". Engines keep these as int64.
using Loc = std::int64_t;
using Locs = std::vector<Loc>;

/// Position of a token in its row, or a length in tokens.
using Pos = std::int64_t;

/// A count of tokens.
using Tokens = std::int64_t;

/// A page's index in its pool, or a row's page-table entry.
using Page = std::int32_t;

/// The number N in the trace's `rN`.
using Row = std::uint32_t;

/// Ops of a trace are numbered from 1; 0 is "before the first op" (construction).
using OpIndex = std::uint32_t;

/// Eight bytes that stand for one token's KV: owner generation, position and layer kind (model/stamp.hpp).
using Stamp = std::uint64_t;

/// Which pool of an allocator: the full-attention one or the sliding-window one.
enum class Pool : std::uint8_t { full, swa };

/// What a free gives back: both halves of each loc, the SWA peer alone, or the full half alone.
enum class Side : std::uint8_t { both, swa, full };

/// Positions [begin, end).
struct Range {
  Pos begin = 0;
  Pos end = 0;
  bool operator==(const Range&) const = default;
  [[nodiscard]] Pos size() const { return end - begin; }
};

/// Positions of one row.
struct Piece {
  Row row = 0;
  Range range;
  bool operator==(const Piece&) const = default;
};

}  // namespace poolproof
