#include "kernels/all.hpp"
#include "kernels/block.hpp"
#include "kernels/cuda_entries.hpp"

namespace poolproof::kernels {
namespace {

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::threads) enter(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  DeviceBlock block;
  kernel(block, shared);
}

using Entry = const void*;

template <typename... Kernels>
Entry entry_of(KernelList<Kernels...> /*list*/, std::size_t number) {
  static const std::array<Entry, sizeof...(Kernels)> entries{reinterpret_cast<Entry>(&enter<Kernels>)...};
  return entries[number];
}

}  // namespace

const void* cuda_entry(std::size_t number) { return entry_of(AllKernels(), number); }

}  // namespace poolproof::kernels
