// The storage of host twins in device memory: the same steps, and so the same mutants, with lists, mapping and KV where
// the device allocators have theirs, lent by their kernels. Each call waits; made for checking, not for speed.
#pragma once

#include <memory>

#include "impl/device/device.hpp"
#include "impl/host/storage.hpp"

namespace poolproof {

std::shared_ptr<const Storage> device_storage(std::shared_ptr<Device> device);

}  // namespace poolproof
