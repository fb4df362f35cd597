// The mutator of a target: over records and choices, or over lines with POOLPROOF_FUZZ_LINES.
#include <algorithm>

#include "fuzz/input/mutate.hpp"
#include "fuzz/targets/engine.hpp"

namespace poolproof {
namespace {

#if defined(POOLPROOF_FUZZ_LINES)
constexpr auto mutate = mutate_lines;
constexpr auto splice = splice_lines;
#else
constexpr auto mutate = mutate_ops;
constexpr auto splice = splice_ops;
#endif

std::size_t own_mutation(std::uint8_t* data, std::size_t size, std::size_t most) {
  return LLVMFuzzerMutate != nullptr ? LLVMFuzzerMutate(data, size, most) : size;
}

}  // namespace
}  // namespace poolproof

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  const auto mutated = poolproof::mutate({data, size}, max_size, seed, poolproof::own_mutation);
  std::copy(mutated.begin(), mutated.end(), data);
  return mutated.size();
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size, const std::uint8_t* other,
                                      std::size_t other_size, std::uint8_t* out, std::size_t max_out, unsigned seed) {
  const auto spliced = poolproof::splice({one, one_size}, {other, other_size}, max_out, seed);
  std::copy(spliced.begin(), spliced.end(), out);
  return spliced.size();
}
