// The kernels on a CUDA device: entry points by number, and the one step that is not a kernel of ours. Only what links
// CUDA includes it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/portable.hpp"

namespace poolproof::kernels {

/// What cudaLaunchKernel takes, for Launch::number. Its single argument is the kernel, by value.
const void* cuda_entry(std::size_t number);

/// Bytes that cuda_sort_descending needs for `count` pages; 0 when CUB cannot say, with the reason in `error`.
std::size_t cuda_sort_scratch_bytes(std::int64_t count, int bits, cudaError_t& error);

/// out = in, descending, by the low `bits`; the two do not overlap.
cudaError_t cuda_sort_descending(void* scratch, std::size_t scratch_bytes, const Page* in, Page* out,
                                 std::int64_t count, int bits, cudaStream_t stream);

}  // namespace poolproof::kernels
