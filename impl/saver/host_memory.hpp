// Virtual memory on the host: a range of addresses is reserved without access, and what stands for device memory is the
// pages behind it. What is resident is read from the kernel (mincore), not from a book of our own, so that memory which
// was only hidden shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "impl/saver/virtual_memory.hpp"

namespace poolproof {

class HostMemory final : public VirtualMemory {
 public:
  /// No more than this can be created and allocated at a time: a small device. 0: as much as is available now.
  explicit HostMemory(std::int64_t capacity_bytes = 0);
  ~HostMemory() override;
  /// Why this machine's kernel cannot stand for a device, as a sentence; nothing when it can.
  static std::optional<std::string> missing();
  HostMemory(const HostMemory&) = delete;
  HostMemory(HostMemory&&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory& operator=(HostMemory&&) = delete;

  [[nodiscard]] std::string name() const override { return "host memory"; }
  /// A page of the kernel's.
  [[nodiscard]] std::int64_t granule_bytes() const override { return granule_bytes_; }
  [[nodiscard]] std::int64_t used_bytes() const override;
  [[nodiscard]] bool counts_others() const override { return false; }
  [[nodiscard]] std::optional<std::int64_t> resident_bytes(Address address, std::int64_t bytes) const override;

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
  /// Created memory: how much, and the range that it was last put behind.
  struct Created {
    std::int64_t bytes = 0;
    Address address = 0;
  };

  SaverFault take(std::int64_t bytes);

  std::int64_t granule_bytes_;
  std::int64_t capacity_bytes_;
  std::int64_t taken_bytes_ = 0;  ///< created and allocated
  std::map<Address, std::int64_t> ranges_;
  std::map<MemoryHandle, Created> created_;
  MemoryHandle next_handle_ = 1;
};

}  // namespace poolproof
