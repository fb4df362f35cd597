// Sums over the threads before each thread of a block, in two levels of 32.
#pragma once

#include "kernels/portable.hpp"

namespace poolproof::kernels {

inline constexpr int scan_group = 32;

/// Shared memory of a scan over N threads, N a multiple of 32.
template <typename T, int N>
struct ScanShared {
  T value[N];
  T group[N / scan_group];
};

/// Each thread has put its own into `shared.value`. Afterwards sum_before(shared, t) is that of the threads before t.
template <typename Block, typename T, int N>
POOLPROOF_HD void scan(Block& block, ScanShared<T, N>& shared) {
  block.each([&](int t) {
    if (t < N / scan_group) {
      T sum{};
      // Each thread starts elsewhere, so that a warp's reads meet all banks of the shared memory.
      for (int i = 0; i < scan_group; ++i) {
        sum += shared.value[t * scan_group + ((i + t) & (scan_group - 1))];
      }
      shared.group[t] = sum;
    }
  });
}

/// The loops are as long for every thread: unrolled, their reads of shared memory do not wait for one another.
template <typename T, int N>
POOLPROOF_HD T sum_before(const ScanShared<T, N>& shared, int t) {
  T sum{};
  const int group = t / scan_group;
  for (int i = 0; i < N / scan_group; ++i) {
    sum += i < group ? shared.group[i] : T{};
  }
  for (int i = 0; i < scan_group; ++i) {
    sum += group * scan_group + i < t ? shared.value[group * scan_group + i] : T{};
  }
  return sum;
}

/// Of all threads.
template <typename T, int N>
POOLPROOF_HD T sum_of_all(const ScanShared<T, N>& shared) {
  T sum{};
  for (int i = 0; i < N / scan_group; ++i) {
    sum += shared.group[i];
  }
  return sum;
}

}  // namespace poolproof::kernels
