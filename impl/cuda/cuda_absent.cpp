// In place of the other files of this folder where the build found no nvcc.
#include "impl/cuda/cuda.hpp"

namespace poolproof {
namespace {

constexpr const char* absent =
    "this poolproof was built without CUDA; build it where nvcc is on the PATH, or take --impl cuda-host, which runs "
    "the "
    "same kernels on the host";

}  // namespace

bool cuda_built() { return false; }

std::optional<std::string> cuda_missing() { return absent; }

Result<std::shared_ptr<Device>, std::string> open_cuda(std::uint32_t /*rank*/) { return std::string(absent); }

Result<std::shared_ptr<VirtualMemory>, std::string> open_cuda_memory(std::uint32_t /*rank*/) {
  return std::string(absent);
}

}  // namespace poolproof
