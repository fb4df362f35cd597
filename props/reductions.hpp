// The steps of the shrinker: smaller variants of one op, and of a trace's geometry. Candidates need not be
// protocol-correct; running them mends them.
#pragma once

#include <cstddef>
#include <vector>

#include "model/ops.hpp"

namespace poolproof {

/// Pieces, rows or segments of an op: what a batch has many of.
std::size_t parts_of(const Op& op);

/// Tokens that an op names, its positions and row numbers included, and one where it names every tag of memory:
/// what an op is made smaller by.
Tokens tokens_of(const Op& op);

/// Variants of one op with a part less, a shorter range, or a lower row, the boldest first.
std::vector<Op> op_reductions(const Op& op, const Geometry& g);

/// Two steps at once, where neither alone still fails: an op less, or a shorter range, in a pool smaller by as much;
/// two lending ops of one row as one; fewer rows, and then one lending less.
std::vector<Trace> joint_reductions(const Trace& trace);

/// Several rows as one, lendings of several rows as one batch, tombstones lent as such, a resized pool from the start.
std::vector<Trace> row_reductions(const Trace& trace);

/// Of a short trace: one op in another place, another one less.
std::vector<Trace> order_reductions(const Trace& trace);

/// The rows that a trace names, sorted.
std::vector<Row> rows_of(const Trace& trace);

/// The trace without what it says of these rows (sorted): their pieces of batches go, and the ops that name one alone,
/// or as one of two.
Trace without_rows(const Trace& trace, const std::vector<Row>& rows);

/// The trace with its rows numbered from 0 in order of appearance.
Trace with_rows_renumbered(const Trace& trace);

/// The trace with smaller pages (positions scaled along), smaller pools, ring, window, fewer slots, no need_sort.
std::vector<Trace> geometry_reductions(const Trace& trace);

}  // namespace poolproof
