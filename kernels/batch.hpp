// A batch of requests as lending kernels get it: arrays in device memory, or one request by value.
#pragma once

#include <cstdint>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

struct BatchView {
  std::int64_t requests = 0;
  const Tokens* prefix_lens = nullptr;  ///< null: one request, `single_*`; not read by decode
  const Tokens* seq_lens = nullptr;
  const Loc* last_locs = nullptr;
  Tokens single_prefix = 0;
  Tokens single_seq = 0;
  Loc single_last = -1;

  [[nodiscard]] POOLPROOF_HD Tokens prefix(std::int64_t request) const {
    return prefix_lens == nullptr ? single_prefix : prefix_lens[request];
  }
  [[nodiscard]] POOLPROOF_HD Tokens seq(std::int64_t request) const {
    return seq_lens == nullptr ? single_seq : seq_lens[request];
  }
  [[nodiscard]] POOLPROOF_HD Loc last(std::int64_t request) const {
    return last_locs == nullptr ? single_last : last_locs[request];
  }
};

}  // namespace poolproof::kernels
