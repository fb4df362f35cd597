// The registry's entries for the device implementations: `cuda-host` and `cuda`, and the mutants of each, "cuda:B20",
// "cuda-host:push-by-arrival".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "impl/registry.hpp"

namespace poolproof {

/// On the host grid; replicas differ in the orders of their threads.
ImplInfo cuda_host_impl();
/// On a GPU, in a process of its own; replicas go round the devices.
ImplInfo cuda_impl();

/// Faults in device code, on both devices. Those of the host twins, steps on device memory: `shared_mutants`.
std::vector<ImplInfo> device_code_mutants();

}  // namespace poolproof
