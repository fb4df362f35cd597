// Random distributions in whole numbers: the same draws give the same workload on every compiler, optimised or not,
// which the floating-point functions of a C library do not promise.
#pragma once

#include <cstdint>

#include "props/choices.hpp"

namespace poolproof {

/// A real number times 2^31.
using Fixed = std::int64_t;
inline constexpr Fixed fixed_one = Fixed{1} << 31;

/// 2^x for x in [-31, 31).
Fixed fixed_exp2(Fixed x);
/// log2(x) for x > 0.
Fixed fixed_log2(Fixed x);

/// Exponentially distributed with this mean: the time between two arrivals of a Poisson process.
std::uint64_t draw_exponential(Choices& choices, std::uint64_t mean);

/// Lognormally distributed with this median; `sigma_percent` is the standard deviation of the logarithm, times 100, up
/// to 300. At least 1. The normal variable behind it is the sum of twelve uniform ones, so it stays within six sigma.
std::int64_t draw_lognormal(Choices& choices, std::int64_t median, std::uint32_t sigma_percent);

}  // namespace poolproof
