// What lets one source run as device code and as plain C++: marks, atomics and bit tricks. Device code is chosen where
// nvcc compiles for a GPU; everywhere else the same functions act on plain memory, one thread after the other.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define POOLPROOF_HD __host__ __device__ __forceinline__
#else
#define POOLPROOF_HD inline
#endif

namespace poolproof::kernels {

// As in the model; kernels know no other room.
using Loc = std::int64_t;
using Tokens = std::int64_t;
using Page = std::int32_t;
using Stamp = std::uint64_t;

template <typename T>
POOLPROOF_HD T least(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
POOLPROOF_HD T most(T a, T b) {
  return a < b ? b : a;
}

/// ceil(a / b) of non-negative numbers.
POOLPROOF_HD std::int64_t parts_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

POOLPROOF_HD int ones(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

/// Index of the lowest bit set; the word is not 0.
POOLPROOF_HD int lowest_one(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(word)) - 1;
#else
  return __builtin_ctz(word);
#endif
}

/// What other blocks wrote before: never a stale line of this multiprocessor's cache.
template <typename T>
POOLPROOF_HD T load_fresh(const T* at) {
#if defined(__CUDA_ARCH__)
  return __ldcg(at);
#else
  return *at;
#endif
}

/// What no thread of the launch writes: it may be read ahead of the stores before it.
template <typename T>
POOLPROOF_HD T load_constant(const T* at) {
#if defined(__CUDA_ARCH__)
  return __ldg(at);
#else
  return *at;
#endif
}

/// Two neighbours at once, the first at a multiple of 16 bytes.
POOLPROOF_HD void load_pair(const Loc* at, Loc& first, Loc& second) {
#if defined(__CUDA_ARCH__)
  const longlong2 both = *reinterpret_cast<const longlong2*>(at);
  first = both.x;
  second = both.y;
#else
  first = at[0];
  second = at[1];
#endif
}

/// A word of shared memory that other threads change meanwhile.
template <typename T>
POOLPROOF_HD T load_shared(const T* at) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile T*>(at);
#else
  return *at;
#endif
}

/// Orders this thread's writes before those that follow, for every thread of the device.
POOLPROOF_HD void fence() {
#if defined(__CUDA_ARCH__)
  __threadfence();
#endif
}

// Each answers the value from before.

POOLPROOF_HD std::uint32_t atomic_or(std::uint32_t* at, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return atomicOr(at, bits);
#else
  const std::uint32_t before = *at;
  *at = before | bits;
  return before;
#endif
}

POOLPROOF_HD std::uint32_t atomic_add(std::uint32_t* at, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(at, value);
#else
  const std::uint32_t before = *at;
  *at = before + value;
  return before;
#endif
}

POOLPROOF_HD std::int64_t atomic_add(std::int64_t* at, std::int64_t value) {
#if defined(__CUDA_ARCH__)
  // Two's complement: an unsigned sum has the bits of the signed one.
  return static_cast<std::int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value)));
#else
  const std::int64_t before = *at;
  *at = before + value;
  return before;
#endif
}

POOLPROOF_HD std::int32_t atomic_min(std::int32_t* at, std::int32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicMin(at, value);
#else
  const std::int32_t before = *at;
  *at = least(before, value);
  return before;
#endif
}

POOLPROOF_HD std::int32_t atomic_max(std::int32_t* at, std::int32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicMax(at, value);
#else
  const std::int32_t before = *at;
  *at = most(before, value);
  return before;
#endif
}

POOLPROOF_HD std::int64_t atomic_min(std::int64_t* at, std::int64_t value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::int64_t>(atomicMin(reinterpret_cast<long long*>(at), static_cast<long long>(value)));
#else
  const std::int64_t before = *at;
  *at = least(before, value);
  return before;
#endif
}

POOLPROOF_HD std::int64_t atomic_max(std::int64_t* at, std::int64_t value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::int64_t>(atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(value)));
#else
  const std::int64_t before = *at;
  *at = most(before, value);
  return before;
#endif
}

/// Sets bit `index` of a bitmap and answers whether it was set before. The lanes of a warp that meet in one word do it
/// with one atomic, and two lanes that name the same bit see each other.
POOLPROOF_HD bool claim_bit(std::uint32_t* words, std::int64_t index) {
  const std::uint32_t bit = std::uint32_t{1} << (static_cast<std::uint32_t>(index) & 31U);
#if defined(__CUDA_ARCH__)
  const auto word = static_cast<unsigned>(index >> 5);  // of at most 2^30 bits
  const unsigned lanes = __match_any_sync(__activemask(), word);
  const unsigned lane = threadIdx.x & 31U;
  const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(lanes))) - 1U;
  const unsigned bits = __reduce_or_sync(lanes, bit);
  const unsigned same = __match_any_sync(lanes, bit);
  unsigned before = 0;
  if (lane == leader) {
    before = atomicOr(words + word, bits);
  }
  before = __shfl_sync(lanes, before, static_cast<int>(leader));
  const bool first_of_same = lane + 1U == static_cast<unsigned>(__ffs(static_cast<int>(same)));
  return (before & bit) != 0 || !first_of_same;
#else
  return (atomic_or(words + (index >> 5), bit) & bit) != 0;
#endif
}

/// Sets bit `index`; nobody asks what it was.
POOLPROOF_HD void set_bit(std::uint32_t* words, std::int64_t index) {
  const std::uint32_t bit = std::uint32_t{1} << (static_cast<std::uint32_t>(index) & 31U);
#if defined(__CUDA_ARCH__)
  const auto word = static_cast<unsigned>(index >> 5);  // of at most 2^30 bits
  const unsigned lanes = __match_any_sync(__activemask(), word);
  const unsigned bits = __reduce_or_sync(lanes, bit);
  if ((threadIdx.x & 31U) + 1U == static_cast<unsigned>(__ffs(static_cast<int>(lanes)))) {
    atomicOr(words + word, bits);
  }
#else
  atomic_or(words + (index >> 5), bit);
#endif
}

/// Sets the bits of a word and answers how many were set before, or are another lane's too; of the lanes that meet in a
/// word one gets the answer, the others 0.
POOLPROOF_HD int claim_bits(std::uint32_t* words, std::int64_t index, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned whole_warp = 0xffffffffU;
  const auto word = static_cast<unsigned>(index);
  const unsigned lane = threadIdx.x & 31U;
  const auto named = static_cast<unsigned>(__popc(bits));
  // Lanes with eight neighbours each meet by fours, which is seen at a glance; who meets whom otherwise is a search.
  if (__activemask() == whole_warp &&
      __all_sync(whole_warp, __shfl_sync(whole_warp, word, static_cast<int>(lane & ~3U)) == word)) {
    unsigned all = bits | __shfl_xor_sync(whole_warp, bits, 1);
    all |= __shfl_xor_sync(whole_warp, all, 2);
    unsigned sum = named + __shfl_xor_sync(whole_warp, named, 1);
    sum += __shfl_xor_sync(whole_warp, sum, 2);
    return (lane & 3U) != 0 ? 0 : static_cast<int>(sum) - __popc(all) + __popc(atomicOr(words + word, all) & all);
  }
  const unsigned lanes = __match_any_sync(__activemask(), word);
  const unsigned all = __reduce_or_sync(lanes, bits);
  const unsigned sum = __reduce_add_sync(lanes, named);
  if (lane + 1U != static_cast<unsigned>(__ffs(static_cast<int>(lanes)))) {
    return 0;
  }
  return static_cast<int>(sum) - __popc(all) + __popc(atomicOr(words + word, all) & all);
#else
  return ones(atomic_or(words + index, bits) & bits);
#endif
}

POOLPROOF_HD bool has_bit(const std::uint32_t* words, std::int64_t index) {
  return ((load_fresh(words + (index >> 5)) >> (static_cast<std::uint32_t>(index) & 31U)) & 1U) != 0;
}

/// The same of a bitmap that this launch does not change.
POOLPROOF_HD bool has_settled_bit(const std::uint32_t* words, std::int64_t index) {
  return ((words[index >> 5] >> (static_cast<std::uint32_t>(index) & 31U)) & 1U) != 0;
}

}  // namespace poolproof::kernels
