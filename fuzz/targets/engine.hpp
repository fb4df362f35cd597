// The functions of a fuzz target, by their names in libFuzzer's interface: what an engine, or the plain main of
// fuzz/targets/replay_main.cpp, calls.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// One execution. Ends the process when the input shows a bug.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// libFuzzer's own mutation. Other engines have none: then it is null.
__attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size, const std::uint8_t* other,
                                      std::size_t other_size, std::uint8_t* out, std::size_t max_out, unsigned seed);
}
