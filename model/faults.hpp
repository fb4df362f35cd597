// What is wrong with a geometry or an op, with the part it is about, so that the trace parser can point at it. The
// public forms are geometry_fault() and op_fault().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/geometry.hpp"
#include "model/ops.hpp"

namespace poolproof {

struct GeometryFault {
  std::string_view key;  ///< the key of the pool line to change or to add
  std::string message;   ///< one sentence with the remedy
};

std::optional<GeometryFault> find_geometry_fault(const Geometry& g);

/// The keys of a pool line in their canonical order: layout and page before the sizes that may be told in pages.
std::span<const std::string_view> geometry_keys();

/// The part of an op's line that a fault is about: the op's word, one of its rows, one of its ranges, the number behind
/// `swa=` or `full=`, or the lone number of a trim, a backup's name or `slots`.
enum class OpPart : std::uint8_t { word, row, range, swa, full, number };

struct OpFault {
  OpPart part = OpPart::word;
  std::size_t index = 0;  ///< which of the line's rows or ranges, from 0
  std::string message;    ///< one sentence with the remedy
};

std::optional<OpFault> find_op_fault(const Op& op, const Geometry& g);

/// The rules for one pool's size, shared by the pool line and `resize`:
/// "full=16 is not a multiple of page=256; for 16 pages write full=16p".
std::optional<std::string> pool_size_fault(std::string_view key, Tokens tokens, Tokens page);

/// The word of `known` that `word` was probably meant to be; empty when none is near.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// `text` as it can stand in a message: other bytes than printable ASCII as \xNN, long text cut.
std::string printable_text(std::string_view text);

}  // namespace poolproof
