// Every kernel, in a list: its place there is its number, and both tables of entry points are made from the list
// (host_grid.cpp, cuda_entries.cu).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "kernels/census.hpp"
#include "kernels/close_group.hpp"
#include "kernels/decode.hpp"
#include "kernels/detach.hpp"
#include "kernels/extend.hpp"
#include "kernels/faulty/close_group_stale.hpp"
#include "kernels/faulty/delay.hpp"
#include "kernels/faulty/endless_wait.hpp"
#include "kernels/faulty/free_set_by_arrival.hpp"
#include "kernels/faulty/free_set_no_dedup.hpp"
#include "kernels/faulty/lost_mark.hpp"
#include "kernels/faulty/narrow_address.hpp"
#include "kernels/faulty/past_memory.hpp"
#include "kernels/fill.hpp"
#include "kernels/free_segments.hpp"
#include "kernels/free_set.hpp"
#include "kernels/mapping.hpp"
#include "kernels/stamps.hpp"
#include "kernels/tail.hpp"

namespace poolproof::kernels {

template <typename... Kernels>
struct KernelList {
  static constexpr std::size_t count = sizeof...(Kernels);
  static constexpr std::array<std::string_view, count> names{Kernels::name...};

  template <typename Kernel>
  static constexpr std::size_t index_of() {
    constexpr std::array<bool, count> same{std::is_same_v<Kernel, Kernels>...};
    std::size_t index = 0;
    while (!same[index]) {
      ++index;
    }
    return index;
  }
};

using AllKernels =
    KernelList<ExtendKernel, TailKernel, DecodeKernel, FreeSegmentsKernel, FreeSetKernel, DetachKernel,
               CloseGroupKernel, MapSetKernel, TranslateKernel, WriteStampsKernel, ReadStampsKernel, VerifyStampsKernel,
               CensusListsKernel, CensusMappingKernel, FillFreeListKernel, FillMappingKernel, EmptyKernel,
               // with planted faults
               BasicDecodeKernel<1>, BasicExtendKernel<true>, BasicFreeSegmentsKernel<false>, FreeSetLostMarkKernel,
               FreeSetByArrivalKernel, FreeSetNoDedupKernel, CloseGroupStaleKernel, WriteStampsNarrowKernel,
               DelayKernel, PastMemoryKernel, EndlessWaitKernel>;

/// What errors call it.
inline std::string_view kernel_name(std::size_t number) { return AllKernels::names[number]; }

/// A launch, the kernel's type forgotten: `body` points to a kernel of `number`, which the launch copies.
struct Launch {
  std::size_t number = 0;
  const void* body = nullptr;
  std::size_t body_bytes = 0;
  std::int64_t blocks = 1;
  int threads = 1;
};

template <typename Kernel>
Launch launch_of(const Kernel& kernel, std::int64_t blocks) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  return {AllKernels::index_of<Kernel>(), &kernel, sizeof(Kernel), blocks, Kernel::threads};
}

}  // namespace poolproof::kernels
