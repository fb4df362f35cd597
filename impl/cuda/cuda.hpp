// `--impl cuda`: the device allocators on an NVIDIA GPU. Built by nvcc where there is one; else everything here says
// so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "impl/device/device.hpp"
#include "impl/saver/virtual_memory.hpp"
#include "model/result.hpp"

namespace poolproof {

/// Was CUDA compiled in?
[[nodiscard]] bool cuda_built();

/// Why `cuda` cannot run here, as a sentence; nothing when it can.
[[nodiscard]] std::optional<std::string> cuda_missing();

/// A stream of its own on device `rank` modulo the number of devices, or why there is none.
Result<std::shared_ptr<Device>, std::string> open_cuda(std::uint32_t rank);

/// Virtual memory of device `rank` modulo the number of devices, or why there is none.
Result<std::shared_ptr<VirtualMemory>, std::string> open_cuda_memory(std::uint32_t rank);

}  // namespace poolproof
