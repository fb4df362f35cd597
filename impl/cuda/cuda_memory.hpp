// Virtual memory of an NVIDIA GPU: the driver's own reserve, create, map and set access, reached through the runtime's
// table of driver entry points, so that nothing is linked against the driver.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "impl/saver/virtual_memory.hpp"

namespace poolproof {

/// The driver's entry points that this uses.
struct CudaDriver {
  decltype(&::cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&::cuMemAddressReserve) reserve = nullptr;
  decltype(&::cuMemAddressFree) unreserve = nullptr;
  decltype(&::cuMemCreate) create = nullptr;
  decltype(&::cuMemRelease) release = nullptr;
  decltype(&::cuMemMap) map = nullptr;
  decltype(&::cuMemUnmap) unmap = nullptr;
  decltype(&::cuMemSetAccess) set_access = nullptr;
  decltype(&::cuGetErrorString) error_string = nullptr;
};

class CudaMemory final : public VirtualMemory {
 public:
  /// Throws StorageError when the device has no virtual memory management, or its driver is too old.
  explicit CudaMemory(int ordinal);
  ~CudaMemory() override;
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory(CudaMemory&&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  CudaMemory& operator=(CudaMemory&&) = delete;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t granule_bytes() const override { return granule_bytes_; }
  [[nodiscard]] std::int64_t used_bytes() const override;
  [[nodiscard]] bool counts_others() const override { return true; }
  [[nodiscard]] std::optional<std::int64_t> resident_bytes(Address /*address*/, std::int64_t /*bytes*/) const override {
    return std::nullopt;
  }

  Result<Address, SaverError> reserve(std::int64_t bytes) override;
  void unreserve(Address address, std::int64_t bytes) override;
  Result<MemoryHandle, SaverError> create(std::int64_t bytes) override;
  SaverFault map(Address address, std::int64_t bytes, MemoryHandle handle) override;
  SaverFault unmap(Address address, std::int64_t bytes) override;
  SaverFault release(MemoryHandle handle) override;
  Result<Address, SaverError> allocate(std::int64_t bytes) override;
  void free(Address address, std::int64_t bytes) override;
  SaverFault write(Address address, std::span<const std::byte> from) override;
  SaverFault read(Address address, std::span<std::byte> to) const override;
  SaverFault write_stamps(Address address, std::int64_t stride, std::span<const Stamp> stamps) override;
  SaverFault read_stamps(Address address, std::int64_t stride, std::span<Stamp> stamps) const override;
  SaverFault fill(Address address, std::int64_t bytes, std::byte value) override;

 private:
  [[nodiscard]] SaverFault driver_fault(CUresult result, const char* call, std::int64_t bytes) const;

  int ordinal_;
  std::string name_;
  CudaDriver driver_;
  CUmemAllocationProp kind_{};
  std::int64_t granule_bytes_ = 0;
  // What a faulty saver leaves behind, and is given back at the end.
  std::map<Address, std::int64_t> reserved_;
  std::map<Address, std::int64_t> mapped_;
  std::set<MemoryHandle> created_;
  std::set<Address> allocated_;
};

}  // namespace poolproof
