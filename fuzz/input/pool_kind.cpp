#include "fuzz/input/pool_kind.hpp"

#include <array>
#include <cstdlib>

namespace poolproof {
namespace {

constexpr std::array<std::string_view, 5> kind_names = {"token", "paged", "hybrid", "ring", "pure_swa"};
constexpr std::array<std::int64_t, 4> pages = {3, 4, 6, 8};
/// Single slots are lent in greater numbers than pages.
constexpr std::int64_t token_scale = 2;

bool bit(std::uint8_t number, unsigned which) { return (number >> which & 1U) != 0; }

Layout layout_of(PoolKind kind) {
  switch (kind) {
    case PoolKind::token:
      return Layout::token;
    case PoolKind::paged:
      return Layout::paged;
    case PoolKind::pure_swa:
      return Layout::pure_swa;
    case PoolKind::hybrid:
    case PoolKind::ring:
      break;
  }
  return Layout::hybrid;
}

Tokens page_of(Layout layout, unsigned which) {
  constexpr std::array<Tokens, 4> paged = {4, 1, 2, 8};
  constexpr std::array<Tokens, 4> hybrid = {4, 1, 2, 2};
  switch (layout) {
    case Layout::paged:
      return paged.at(which);
    case Layout::hybrid:
      return hybrid.at(which);
    case Layout::token:
    case Layout::pure_swa:
      break;
  }
  return 1;
}

}  // namespace

std::string_view pool_kind_name(PoolKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::optional<PoolKind> pool_kind_from(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names.at(i) == name) {
      return static_cast<PoolKind>(i);
    }
  }
  return std::nullopt;
}

PoolKind pool_kind_of(const Geometry& geometry) {
  switch (geometry.layout) {
    case Layout::token:
      return PoolKind::token;
    case Layout::paged:
      return PoolKind::paged;
    case Layout::pure_swa:
      return PoolKind::pure_swa;
    case Layout::hybrid:
      break;
  }
  return geometry.ringed() ? PoolKind::ring : PoolKind::hybrid;
}

Geometry pool_variant(PoolKind kind, std::uint8_t number) {
  Geometry g;
  g.layout = layout_of(kind);
  g.need_sort = bit(number, 0);
  g.page = page_of(g.layout, (bit(number, 1) ? 1U : 0U) + (bit(number, 6) ? 2U : 0U));
  const std::int64_t count = pages.at(number >> 2U & 3U) * (g.page == 1 ? token_scale : 1);
  g.full = count * g.page;
  if (g.sliding()) {
    g.window = g.page == 1 ? 4 : g.page + g.page / 2;
  }
  if (g.hybrid()) {
    g.swa = (bit(number, 4) ? count / 2 : count) * g.page;
  }
  if (kind == PoolKind::ring) {
    g.ring = g.window + (bit(number, 4) ? 0 : 2);
  }
  g.reqs = bit(number, 5) ? 3 : 2;
  return g;
}

std::optional<std::uint8_t> nearest_variant(const Geometry& geometry) {
  const PoolKind kind = pool_kind_of(geometry);
  std::optional<std::uint8_t> best;
  Tokens best_distance = 0;
  for (std::uint8_t number = 0; number < pool_variants; ++number) {
    const Geometry g = pool_variant(kind, number);
    if (g.page != geometry.page || g.need_sort != geometry.need_sort) {
      continue;
    }
    const Tokens distance = std::abs(g.full - geometry.full) + std::abs(g.swa - geometry.swa) +
                            std::abs(g.ring - geometry.ring) + std::abs(g.reqs - geometry.reqs);
    if (!best || distance < best_distance) {
      best = number;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace poolproof
