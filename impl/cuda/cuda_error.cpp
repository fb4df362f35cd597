#include "impl/cuda/cuda_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace poolproof {

std::string cuda_error_text(cudaError_t error) {
  return fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
}

bool is_sticky(cudaError_t error) {
  static constexpr std::array sticky{cudaErrorIllegalAddress,     cudaErrorLaunchFailure,       cudaErrorAssert,
                                     cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
                                     cudaErrorIllegalInstruction, cudaErrorHardwareStackError,  cudaErrorLaunchTimeout,
                                     cudaErrorECCUncorrectable,   cudaErrorNvlinkUncorrectable, cudaErrorUnknown};
  return std::find(sticky.begin(), sticky.end(), error) != sticky.end();
}

void check_cuda(cudaError_t error, const std::string& what, const std::string& where) {
  if (error != cudaSuccess) {
    throw StorageError(fmt::format("{}, in {} on {}", cuda_error_text(error), what, where), cudaGetErrorName(error),
                       is_sticky(error));
  }
}

}  // namespace poolproof
