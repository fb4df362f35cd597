// Planted: the byte offset of a token's KV in 32 bits. With rows of 4,096 bytes (8 heads of 128, K and V in bf16) it
// wraps at token 524,288.
#pragma once

#include "kernels/stamps.hpp"

namespace poolproof::kernels {

struct NarrowAddress {
  static constexpr std::string_view name = "write_stamps (narrow)";
  static constexpr std::int64_t row_bytes = 4096;
  static POOLPROOF_HD std::int64_t of(std::int64_t address) {
    const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(address * row_bytes));
    return wrapped / row_bytes;
  }
};

using WriteStampsNarrowKernel = BasicWriteStampsKernel<NarrowAddress>;

}  // namespace poolproof::kernels
