// set_full_to_swa_mapping, clear_full_to_swa_mapping, translate_loc_from_full_to_swa: an entry a thread.
#pragma once

#include <string_view>

#include "kernels/pools.hpp"

namespace poolproof::kernels {

/// mapping[full[i]] = swa[i], or 0 where `swa` is null.
struct MapSetKernel {
  static constexpr std::string_view name = "map_set";
  static constexpr int threads = 256;

  PoolsView pools;
  const Loc* full = nullptr;
  const Loc* swa = nullptr;
  std::int64_t count = 0;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      const std::int64_t i = block.index() * threads + t;
      if (i < count) {
        const Loc loc = full[i];
        pools.mapping[loc < 0 ? pools.mapping_length - 1 : loc] = swa == nullptr ? 0 : swa[i];
      }
    });
  }
};

struct TranslateKernel {
  static constexpr std::string_view name = "translate";
  static constexpr int threads = 256;

  PoolsView pools;
  const Loc* full = nullptr;
  std::int64_t count = 0;
  Loc* out = nullptr;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      const std::int64_t i = block.index() * threads + t;
      if (i < count) {
        out[i] = pools.peer_of(full[i]);
      }
    });
  }
};

}  // namespace poolproof::kernels
