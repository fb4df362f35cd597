// Planted: page flags are raised by load, or and store. Two threads that raise flags of one word at the same time lose
// one.
#pragma once

#include "kernels/free_set.hpp"

namespace poolproof::kernels {

struct PlainMarking {
  static constexpr std::string_view name = "free_set (lost mark)";
  static POOLPROOF_HD void mark_page(const Marks& marks, MarkRange& range, std::int64_t page) {
    const std::uint32_t bit = std::uint32_t{1} << (static_cast<std::uint32_t>(page) & 31U);
    volatile std::uint32_t* word = marks.words + (page >> 5);
    *word = *word | bit;
    cover(range, page >> 5);
  }
};

using FreeSetLostMarkKernel = BasicFreeSetKernel<PlainMarking>;

}  // namespace poolproof::kernels
