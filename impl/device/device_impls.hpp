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

/// Faults in device code, on both devices.
std::vector<ImplInfo> device_code_mutants();
/// The mutants of the host twin, with their state in the memory of both devices and lent by its kernels.
std::vector<ImplInfo> shared_mutants(std::span<const ImplInfo> of_the_host);

}  // namespace poolproof
