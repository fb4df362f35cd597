// The kinds of pools that a target each fuzzes, and the small pools of a kind. Small ones fill within a few ops, and an
// execution costs little.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/geometry.hpp"

namespace poolproof {

enum class PoolKind : std::uint8_t { token, paged, hybrid, ring, pure_swa };

std::string_view pool_kind_name(PoolKind kind);
std::optional<PoolKind> pool_kind_from(std::string_view name);
/// A ring is a kind of its own.
PoolKind pool_kind_of(const Geometry& geometry);

/// Variants are numbered below this.
inline constexpr std::size_t pool_variants = 128;

/// The kind's pool of a number, any byte: need_sort (bit 0); the page (bits 1 and 6: 4, 1, 2 or, of one pool, 8); 3, 4,
/// 6 or 8 pages (bits 2-3); as many SWA pages or half of them, and a ring without a spare row or with some (bit 4); 2
/// or 3 request slots (bit 5).
Geometry pool_variant(PoolKind kind, std::uint8_t number);

/// The variant that is most like `geometry`: the same page and need_sort, else nothing.
std::optional<std::uint8_t> nearest_variant(const Geometry& geometry);

}  // namespace poolproof
