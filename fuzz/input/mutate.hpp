// Mutations that keep the shape of an input: whole records, whole choices, whole lines are inserted, left out, doubled,
// swapped and moved, and two inputs are spliced at such borders. libFuzzer's own mutations of bytes are the other half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace poolproof {

/// libFuzzer's own mutation: changes `size` bytes in place, up to `most` of them, and answers how many there are then.
using ByteMutation = std::function<std::size_t(std::uint8_t* data, std::size_t size, std::size_t most)>;

/// An input of an ops target, mutated. The same seed and input give the same answer where `bytes` does.
std::vector<std::uint8_t> mutate_ops(std::span<const std::uint8_t> input, std::size_t most, std::uint64_t seed,
                                     const ByteMutation& bytes);
/// The head of one, the tail of the other.
std::vector<std::uint8_t> splice_ops(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                                     std::size_t most, std::uint64_t seed);

/// The same for a text of lines.
std::vector<std::uint8_t> mutate_lines(std::span<const std::uint8_t> input, std::size_t most, std::uint64_t seed,
                                       const ByteMutation& bytes);
std::vector<std::uint8_t> splice_lines(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                                       std::size_t most, std::uint64_t seed);

}  // namespace poolproof
