#include "props/workload/fixed_point.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace poolproof {
namespace {

constexpr std::size_t bits = 31;
constexpr Fixed log2_of_e = 3098164009;  // log2(e) * 2^31
constexpr Fixed ln_of_two = 1488522236;  // ln(2) * 2^31
constexpr std::uint64_t uniform = std::uint64_t{1} << bits;

constexpr std::uint64_t root(std::uint64_t square) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31U; bit > 0; bit >>= 1U) {
    if ((root | bit) * (root | bit) <= square) {
      root |= bit;
    }
  }
  return root;
}

/// 2^(1/2), 2^(1/4), 2^(1/8), ... times 2^31: each the root of the one before.
constexpr std::array<std::uint64_t, bits> roots_of_two() {
  std::array<std::uint64_t, bits> roots{};
  std::uint64_t power = std::uint64_t{2} << bits;
  for (std::uint64_t& next : roots) {
    next = root(power << bits);
    power = next;
  }
  return roots;
}

Fixed product(Fixed a, Fixed b) { return a / fixed_one * b + (a % fixed_one) * b / fixed_one; }

}  // namespace

Fixed fixed_exp2(Fixed x) {
  static constexpr std::array<std::uint64_t, bits> roots = roots_of_two();
  const Fixed whole = x >= 0 ? x / fixed_one : -((-x + fixed_one - 1) / fixed_one);
  const auto fraction = static_cast<std::uint64_t>(x - whole * fixed_one);
  std::uint64_t power = std::uint64_t{1} << bits;
  for (std::size_t i = 0; i < bits; ++i) {
    if ((fraction >> (bits - 1 - i) & 1U) != 0) {
      power = power * roots[i] >> bits;
    }
  }
  return static_cast<Fixed>(whole >= 0 ? power << static_cast<std::uint64_t>(whole)
                                       : power >> static_cast<std::uint64_t>(-whole));
}

Fixed fixed_log2(Fixed x) {
  const auto width = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(x)));
  const std::int64_t whole = width - 1 - static_cast<std::int64_t>(bits);
  // Between one and two, times 2^31; squaring it shifts the next bit of its logarithm in front of the point.
  std::uint64_t rest = whole >= 0 ? static_cast<std::uint64_t>(x) >> static_cast<std::uint64_t>(whole)
                                  : static_cast<std::uint64_t>(x) << static_cast<std::uint64_t>(-whole);
  std::uint64_t fraction = 0;
  for (std::size_t i = 0; i < bits; ++i) {
    rest = rest * rest >> bits;
    fraction <<= 1U;
    if (rest >= std::uint64_t{2} << bits) {
      rest >>= 1U;
      fraction |= 1U;
    }
  }
  return whole * fixed_one + static_cast<Fixed>(fraction);
}

std::uint64_t draw_exponential(Choices& choices, std::uint64_t mean) {
  const auto share = static_cast<Fixed>(choices.draw(uniform)) + 1;  // (0, 1]
  const Fixed logarithm = product(-fixed_log2(share), ln_of_two);
  return static_cast<std::uint64_t>(product(logarithm, static_cast<Fixed>(mean)));
}

std::int64_t draw_lognormal(Choices& choices, std::int64_t median, std::uint32_t sigma_percent) {
  constexpr int terms = 12;
  Fixed normal = -terms / 2 * fixed_one;
  for (int i = 0; i < terms; ++i) {
    normal += static_cast<Fixed>(choices.draw(uniform));
  }
  const Fixed exponent = product(normal * sigma_percent / 100, log2_of_e);
  const Fixed factor = fixed_exp2(std::clamp(exponent, -30 * fixed_one, 30 * fixed_one));
  return std::max<std::int64_t>(1, product(factor, median));
}

}  // namespace poolproof
