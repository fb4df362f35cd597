// Faults that only device code can have: DevicePools with one step overridden to launch a kernel in which the fault is
// planted, and its entry in the registry. One file each in this folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impl/device/device_pools.hpp"
#include "impl/mutants/mutant.hpp"
#include "model/breakdown.hpp"

namespace poolproof {

/// Pools that clone as `Mutant`, which derives from them.
template <typename Mutant>
class MutatedPools : public DevicePools {
 public:
  using DevicePools::DevicePools;
  [[nodiscard]] std::unique_ptr<DevicePools> clone() const override {
    return std::make_unique<Mutant>(static_cast<const Mutant&>(*this));
  }
  void assign(const DevicePools& other) override { static_cast<Mutant&>(*this) = static_cast<const Mutant&>(other); }

 protected:
  MutatedPools(const MutatedPools&) = default;
  MutatedPools& operator=(const MutatedPools&) = default;
};

/// What a fault needs to show.
enum class NeedsDevice : std::uint8_t {
  no,        ///< any order of blocks and threads, or some of those that the host grid takes
  parallel,  ///< threads that really run at the same time, or memory that is not the host's
  grid,      ///< an order that the host grid takes now and then, and a GPU next to never
  gpu,       ///< hardware that ends what it belongs to: on the host grid the fault would take poolproof itself along
};

/// A fault in device code, wherever it runs.
struct DeviceMutant {
  MutantFacts facts;  ///< `name` without the device: "no-dedup"
  NeedsDevice needs = NeedsDevice::no;
  std::uint32_t ranks = 1;  ///< replicas that it takes to show
  std::function<std::unique_ptr<DevicePools>(std::shared_ptr<Device>, const Geometry&)> build;
  /// Not an invariant reports it but this: it is to be run in a process of its own.
  std::optional<BreakdownKind> ends_in = {};
};

template <typename Mutant>
DeviceMutant device_mutant(MutantFacts facts, NeedsDevice needs = NeedsDevice::no, std::uint32_t ranks = 1) {
  return {std::move(facts), needs, ranks, [](std::shared_ptr<Device> device, const Geometry& g) {
            return std::make_unique<Mutant>(std::move(device), g);
          }};
}

/// A fault that takes its process along.
template <typename Mutant>
DeviceMutant fatal_device_mutant(MutantFacts facts, BreakdownKind ends_in) {
  DeviceMutant mutant = device_mutant<Mutant>(std::move(facts), NeedsDevice::gpu);
  mutant.ends_in = ends_in;
  return mutant;
}

// Each made in the file of the same name.
DeviceMutant address_in_32_bits();
DeviceMutant block_border_uncounted();
DeviceMutant check_after_launch();
DeviceMutant counts_settled_early();
DeviceMutant free_without_dedup();
DeviceMutant lost_mark();
DeviceMutant missing_stream_wait();
DeviceMutant partial_page_stays_mapped();
DeviceMutant push_by_arrival();
DeviceMutant stale_count_after_group();
DeviceMutant wait_without_end();
DeviceMutant write_past_memory();

/// All of them.
std::vector<DeviceMutant> device_mutants();

}  // namespace poolproof
