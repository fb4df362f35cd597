#include "props/choices.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t stream_step = 0x9e3779b97f4a7c15U;   // 2^64 / golden ratio, odd
constexpr std::uint64_t counter_step = 0xd1342543de82ef95U;  // odd, so that n -> n * step is a bijection

/// A bijection of 64 bits in which each input bit moves about half of the output bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return x;
}

/// High 64 bits of a * b, from 32-bit halves: the same on every compiler.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t low_half = 0xffffffffU;
  const std::uint64_t low = (a & low_half) * (b & low_half);
  const std::uint64_t cross = (a >> 32U) * (b & low_half) + (low >> 32U);
  const std::uint64_t other = (a & low_half) * (b >> 32U) + (cross & low_half);
  return (a >> 32U) * (b >> 32U) + (cross >> 32U) + (other >> 32U);
}

}  // namespace

RandomChoices::RandomChoices(std::uint64_t seed, std::uint64_t stream)
    : key_(mix(mix(seed + stream_step) + (stream + 1) * stream_step)) {}

std::uint64_t RandomChoices::draw(std::uint64_t bound) {
  const std::uint64_t bits = mix(key_ + counter_ * counter_step);
  ++counter_;
  return high_product(bits, bound);
}

std::uint64_t TapeChoices::draw(std::uint64_t bound) {
  if (exhausted()) {
    return 0;
  }
  const std::uint64_t value = tape_[next_];
  ++next_;
  return value % bound;
}

}  // namespace poolproof
