// The last block of a launch to finish: it alone sees all that the others wrote, so it changes the counts.
#pragma once

#include "kernels/portable.hpp"

namespace poolproof::kernels {

/// True in the block that finishes last; `shared_flag` is a word of the block's shared memory. Every thread calls it.
template <typename Block>
POOLPROOF_HD bool is_last_block(Block& block, std::uint32_t* ticket, bool& shared_flag) {
  block.each([&](int) { fence(); });
  block.each([&](int t) {
    if (t == 0) {
      shared_flag = atomic_add(ticket, 1) + 1 == static_cast<std::uint32_t>(block.count());
      fence();
    }
  });
  if (shared_flag) {
    block.each([&](int t) {
      if (t == 0) {
        *ticket = 0;
      }
    });
  }
  return shared_flag;
}

}  // namespace poolproof::kernels
