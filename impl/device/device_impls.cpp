#include "impl/device/device_impls.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "impl/cuda/cuda.hpp"
#include "impl/device/device_storage.hpp"
#include "impl/device/device_twin.hpp"
#include "impl/device/host_grid_device.hpp"
#include "impl/device/mutants/device_mutant.hpp"
#include "impl/host/guarded_allocator.hpp"
#include "impl/host/host.hpp"
#include "impl/on_storage.hpp"

namespace poolproof {
namespace {

using Opened = Result<std::shared_ptr<Device>, std::string>;
using BuildPools = std::function<std::unique_ptr<DevicePools>(std::shared_ptr<Device>, const Geometry&)>;

/// A kind of device that implementations are named after.
struct DeviceKind {
  std::string name;
  std::string says;  ///< for lists
  std::function<Opened(std::uint32_t rank)> open;
  std::function<std::optional<std::string>()> missing;
  bool isolated = false;
  std::vector<NeedsDevice> lacks;  ///< faults of these needs do not show here
};

DeviceKind host_grid() {
  return {"cuda-host",
          "the CUDA implementation's kernels on the host, blocks and threads in random orders",
          [](std::uint32_t rank) { return Opened(std::make_shared<HostGridDevice>(rank)); },
          {},
          false,
          {NeedsDevice::parallel, NeedsDevice::gpu}};
}

DeviceKind gpu() {
  return {"cuda",    "the CUDA implementation, on a GPU and in a process of its own",
          open_cuda, cuda_missing,
          true,      {NeedsDevice::grid}};
}

std::unique_ptr<DevicePools> right_pools(std::shared_ptr<Device> device, const Geometry& g) {
  return std::make_unique<DevicePools>(std::move(device), g);
}

/// Fills in what depends on the device.
void put_on(const DeviceKind& kind, const BuildPools& build, ImplInfo& info) {
  info.missing = kind.missing;
  info.isolated = kind.isolated;
  info.make_rank = [open = kind.open, build](const Geometry& g,
                                             std::uint32_t rank) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = geometry_fault(g)) {
      return *fault;
    }
    Opened device = open(rank);
    if (!device) {
      return device.error();
    }
    return guarded([&] { return std::make_unique<GuardedAllocator>(std::make_unique<DeviceTwin>(build(*device, g))); });
  };
  info.make = [make_rank = info.make_rank](const Geometry& g) { return make_rank(g, 0); };
}

ImplInfo right_impl(const DeviceKind& kind) {
  ImplInfo info;
  info.name = kind.name;
  info.mechanism = kind.says;
  info.supports = [](const Geometry& /*g*/) { return true; };
  put_on(kind, right_pools, info);
  return info;
}

ImplInfo mutant_impl(const DeviceKind& kind, const DeviceMutant& mutant) {
  ImplInfo info = entry_of(mutant.facts);
  info.name = kind.name + ":" + info.name;
  info.ranks = mutant.ranks;
  put_on(kind, mutant.build, info);
  return info;
}

}  // namespace

ImplInfo cuda_host_impl() { return right_impl(host_grid()); }

ImplInfo cuda_impl() { return right_impl(gpu()); }

std::vector<ImplInfo> device_code_mutants() {
  std::vector<ImplInfo> all;
  for (const DeviceKind& kind : {host_grid(), gpu()}) {
    for (const DeviceMutant& mutant : device_mutants()) {
      if (std::find(kind.lacks.begin(), kind.lacks.end(), mutant.needs) == kind.lacks.end()) {
        all.push_back(mutant_impl(kind, mutant));
      }
    }
  }
  return all;
}

std::vector<ImplInfo> shared_mutants(std::span<const ImplInfo> of_the_host) {
  std::vector<ImplInfo> all;
  for (const DeviceKind& kind : {host_grid(), gpu()}) {
    const OpenStorage open = [open_device = kind.open]() -> Result<std::shared_ptr<const Storage>, std::string> {
      Opened device = open_device(0);
      if (!device) {
        return device.error();
      }
      return device_storage(*std::move(device));
    };
    for (const ImplInfo& impl : of_the_host) {
      if (impl.kind == ImplKind::mutant && impl.make_on) {
        all.push_back(on_storage(impl, kind.name, open));
        all.back().missing = kind.missing;
        all.back().isolated = kind.isolated;
      }
    }
  }
  return all;
}

}  // namespace poolproof
