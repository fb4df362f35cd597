// Errors of the CUDA runtime as values that say what was asked, of which device. For impl/cuda/ alone.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "impl/device/device.hpp"

namespace poolproof {

/// "cudaErrorIllegalAddress: an illegal memory access was encountered".
[[nodiscard]] std::string cuda_error_text(cudaError_t error);

/// Does the error outlive the call: is every further one in this process going to fail?
[[nodiscard]] bool is_sticky(cudaError_t error);

/// Throws a StorageError unless all is well. `what` is the call with its sizes, `where` the device.
void check_cuda(cudaError_t error, const std::string& what, const std::string& where);

}  // namespace poolproof
