// Ops of a trace as records of eight bytes, so that a fuzzer's plain mutations are mutations of ops: a record inserted,
// left out, doubled or moved is an op that was. Any bytes are a list of ops; most ops of hostile bytes break the
// protocol and are mended or left out by who runs them.
//
//   byte 0     the op's word; with the top bit set the record adds a piece to the op before it, as in a batch
//   byte 1     row
//   bytes 2-3  where the range begins; trim: the length; resize: pages of the full pool
//   bytes 4-5  how long the range is; resize: pages of the SWA pool
//   byte 6     copy, remap: the other row; tail: tokens in front of its `swa` range, in pages; backup, restore: the
//   name byte 7     remap: where the other row's range begins, from this one's, signed; tail: tokens behind its `swa`
//   range
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/geometry.hpp"
#include "model/ops.hpp"

namespace poolproof {

inline constexpr std::size_t op_record_bytes = 8;
/// Rows of a record are below this.
inline constexpr Row record_rows = 16;

/// Takes the next op off the front of `bytes`; nothing when less than a record is left, or only pieces of no op. Ranges
/// may be out of the pool's reach, and the op one that the layout does not offer (op_fault says so).
std::optional<Op> take_op(std::span<const std::uint8_t>& bytes, const Geometry& geometry);

/// Appends the op's records; false, and nothing appended, where a record cannot say it: a row or number too large, an
/// `expect`, a memory op.
bool append_op(const Op& op, const Geometry& geometry, std::vector<std::uint8_t>& bytes);

}  // namespace poolproof
