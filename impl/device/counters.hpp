// The counts of a device allocator: on the device, where kernels change them, and what the host knows of them.
#pragma once

#include <cstdint>

namespace poolproof {

/// One list's length. Lending and segment-shaped frees are counted on the host from lengths alone; what a set-shaped
/// free or the peers of a free add, the device alone knows until somebody asks.
struct KnownCount {
  std::int64_t at_least = 0;
  bool exact = true;
};

/// Of one pool, in pages.
struct KnownCounts {
  KnownCount free;
  KnownCount staged;
  KnownCount deferred;
};

/// What lies on the device, as kernels' pointers reach into it.
struct DeviceCounters {
  struct PoolCounters {
    std::int64_t free = 0;
    std::int64_t staged = 0;
    std::int64_t deferred = 0;
    std::int64_t first_marked_word = INT64_MAX;
    std::int64_t last_marked_word = -1;
  };
  PoolCounters full;
  PoolCounters swa;
  std::int64_t touched = 0;
  std::uint32_t ticket = 0;
  std::uint32_t padding = 0;
};

}  // namespace poolproof
