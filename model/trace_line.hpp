// One line of a trace read into what it says; the file around it is trace_parse.cpp's.
#pragma once

#include <optional>
#include <string_view>

#include "model/faults.hpp"
#include "model/ops.hpp"
#include "model/trace_cursor.hpp"
#include "model/trace_text.hpp"

namespace poolproof {

/// Blocks nested deeper than this are an error; the printer writes them as group_begin and group_end.
inline constexpr std::size_t deepest_group_block = 64;

/// Does the line open or close a `group { ... }` block?
enum class Block : std::uint8_t { none, open, close };

/// `line` is without comment and line end. Nothing, or why it is not the op that it should be; then `op` and `block`
/// are of no use.
std::optional<LineFailure> read_op_line(std::string_view line, const Geometry& g, const TextLimits& limits, Op& op,
                                        Block& block);

/// `poolproof 1`.
std::optional<LineFailure> read_header_line(std::string_view line);

/// `pool layout=... page=...`.
std::optional<LineFailure> read_pool_line(std::string_view line, Geometry& g);

/// Where on its line the part of an op stands that a fault is about.
std::size_t place_of(const OpFault& fault, std::string_view line);

}  // namespace poolproof
