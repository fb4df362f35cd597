// Virtual memory whose addresses outlive what is behind them: reserve, create, map, unmap, release. This is what CUDA's
// virtual memory management offers (cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess); on the host the same
// is made of mmap, mprotect and madvise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "impl/saver/saver_error.hpp"
#include "model/result.hpp"
#include "model/units.hpp"

namespace poolproof {

using Address = std::uint64_t;
/// Physical memory that was created and not yet released.
using MemoryHandle = std::uint64_t;

/// Nothing, or why it could not be done.
using SaverFault = std::optional<SaverError>;

/// Addresses and sizes are whole granules unless it says otherwise.
class VirtualMemory {
 public:
  VirtualMemory() = default;
  virtual ~VirtualMemory() = default;
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory(VirtualMemory&&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  VirtualMemory& operator=(VirtualMemory&&) = delete;

  /// "host memory", "NVIDIA H200 (device 0)".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::int64_t granule_bytes() const = 0;
  /// Bytes in use, as the driver counts those of the whole device; on the host as the kernel counts those that were
  /// reserved here and are resident.
  [[nodiscard]] virtual std::int64_t used_bytes() const = 0;
  /// Does used_bytes() count what other processes use too? Then nothing else may run there while it is read.
  [[nodiscard]] virtual bool counts_others() const = 0;
  /// Physical bytes behind a range, or nothing where nobody counts them by range.
  [[nodiscard]] virtual std::optional<std::int64_t> resident_bytes(Address address, std::int64_t bytes) const = 0;

  virtual Result<Address, SaverError> reserve(std::int64_t bytes) = 0;
  virtual void unreserve(Address address, std::int64_t bytes) = 0;
  /// out_of_memory when the device has no room.
  virtual Result<MemoryHandle, SaverError> create(std::int64_t bytes) = 0;
  /// Puts the memory behind a reserved range, readable and writable. Reads zero.
  virtual SaverFault map(Address address, std::int64_t bytes, MemoryHandle handle) = 0;
  virtual SaverFault unmap(Address address, std::int64_t bytes) = 0;
  /// Gives the memory back, which is unmapped.
  virtual SaverFault release(MemoryHandle handle) = 0;

  /// Memory of no region, as an ordinary allocation of the engine's. Any size; reads zero.
  virtual Result<Address, SaverError> allocate(std::int64_t bytes) = 0;
  virtual void free(Address address, std::int64_t bytes) = 0;

  // Content of what is mapped or allocated; any address and size inside of it. The driver's errors alone.

  virtual SaverFault write(Address address, std::span<const std::byte> from) = 0;
  virtual SaverFault read(Address address, std::span<std::byte> to) const = 0;
  /// One stamp at each of `stamps.size()` places, `stride` bytes apart.
  virtual SaverFault write_stamps(Address address, std::int64_t stride, std::span<const Stamp> stamps) = 0;
  virtual SaverFault read_stamps(Address address, std::int64_t stride, std::span<Stamp> stamps) const = 0;
  /// Fills a range with one byte.
  virtual SaverFault fill(Address address, std::int64_t bytes, std::byte value) = 0;
};

}  // namespace poolproof
