#include "impl/cuda/cuda.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "impl/cuda/cuda_device.hpp"
#include "impl/cuda/cuda_error.hpp"
#include "impl/cuda/cuda_memory.hpp"

namespace poolproof {

bool cuda_built() { return true; }

std::optional<std::string> cuda_missing() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    return "no CUDA device: there is no NVIDIA driver, or one older than this poolproof's CUDA";
  }
  if (error != cudaSuccess) {
    return fmt::format("no CUDA device: {}", cuda_error_text(error));
  }
  return count == 0 ? std::optional<std::string>("no CUDA device") : std::nullopt;
}

namespace {

/// A `Made` on device `rank` modulo their number, as the `Opened` that it is one of.
template <typename Opened, typename Made>
Result<std::shared_ptr<Opened>, std::string> open_on(std::uint32_t rank) {
  if (std::optional<std::string> missing = cuda_missing()) {
    return *std::move(missing);
  }
  try {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount", "any device");
    return std::shared_ptr<Opened>(std::make_shared<Made>(static_cast<int>(rank % static_cast<std::uint32_t>(count))));
  } catch (const StorageError& error) {
    return std::string(error.what());
  }
}

}  // namespace

Result<std::shared_ptr<Device>, std::string> open_cuda(std::uint32_t rank) { return open_on<Device, CudaDevice>(rank); }

Result<std::shared_ptr<VirtualMemory>, std::string> open_cuda_memory(std::uint32_t rank) {
  return open_on<VirtualMemory, CudaMemory>(rank);
}

}  // namespace poolproof
