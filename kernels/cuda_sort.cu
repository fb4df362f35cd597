#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda_entries.hpp"

namespace poolproof::kernels {

std::size_t cuda_sort_scratch_bytes(std::int64_t count, int bits, cudaError_t& error) {
  std::size_t bytes = 0;
  const Page* in = nullptr;
  Page* out = nullptr;
  error = cub::DeviceRadixSort::SortKeysDescending(nullptr, bytes, in, out, count, 0, bits);
  return error == cudaSuccess ? bytes : 0;
}

cudaError_t cuda_sort_descending(void* scratch, std::size_t scratch_bytes, const Page* in, Page* out,
                                 std::int64_t count, int bits, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeysDescending(scratch, scratch_bytes, in, out, count, 0, bits, stream);
}

}  // namespace poolproof::kernels
