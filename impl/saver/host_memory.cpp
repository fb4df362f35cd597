#include "impl/saver/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "model/kv_memory.hpp"

namespace poolproof {
namespace {

void* pointer(Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

SaverError kernel_error(const char* call, std::int64_t bytes) {
  return {SaverErrorKind::device, fmt::format("{} of {} bytes: {}", call, bytes, std::strerror(errno))};
}

SaverError no_room(std::int64_t bytes, std::int64_t left) {
  return {SaverErrorKind::out_of_memory, fmt::format("out of memory: {} bytes asked for, {} left", bytes, left)};
}

/// Puts pages behind a range that can be written. MADV_POPULATE_WRITE is younger than some kernels.
void populate(Address address, std::int64_t bytes, std::int64_t page) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(pointer(address), static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE) == 0) {
    return;
  }
#endif
  for (std::int64_t at = 0; at < bytes; at += page) {
    *static_cast<volatile char*>(pointer(address + static_cast<Address>(at))) = 0;
  }
}

Result<Address, SaverError> map_pages(std::int64_t bytes, int access) {
  void* const at =
      mmap(nullptr, static_cast<std::size_t>(bytes), access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return errno == ENOMEM ? SaverError{SaverErrorKind::out_of_memory,
                                        fmt::format("out of memory: no {} addresses in a row", bytes)}
                           : kernel_error("mmap", bytes);
  }
  // A huge page would make neighbours resident that were not asked for. Kernels without them refuse, and need it not.
  (void)madvise(at, static_cast<std::size_t>(bytes), MADV_NOHUGEPAGE);
  return reinterpret_cast<Address>(at);
}

/// What the kernel says can be had without swapping, or all that the machine has where it does not say.
std::int64_t available_bytes(std::int64_t page) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::string unit;
  for (std::int64_t kib = 0; file >> key >> kib && std::getline(file, unit);) {
    if (key == "MemAvailable:") {
      return kib * 1024;
    }
  }
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * page;
}

}  // namespace

std::optional<std::string> HostMemory::missing() {
  HostMemory memory;
  const std::int64_t page = memory.granule_bytes();
  const Result<Address, SaverError> address = memory.reserve(page);
  const Result<MemoryHandle, SaverError> handle = memory.create(page);
  if (!address || !handle || memory.map(*address, page, *handle)) {
    return "this machine does not map memory as a memory saver needs it";
  }
  const std::int64_t mapped = memory.used_bytes();
  const SaverFault fault = memory.release(*handle);
  if (fault || mapped != page || memory.used_bytes() != 0) {
    return "the kernel does not tell which memory is resident (mincore), so nothing could be checked";
  }
  return std::nullopt;
}

HostMemory::HostMemory(std::int64_t capacity_bytes)
    : granule_bytes_(static_cast<std::int64_t>(sysconf(_SC_PAGESIZE))),
      capacity_bytes_(capacity_bytes == 0 ? available_bytes(granule_bytes_) : capacity_bytes) {}

HostMemory::~HostMemory() {
  for (const auto& [address, bytes] : ranges_) {
    munmap(pointer(address), static_cast<std::size_t>(bytes));
  }
}

std::int64_t HostMemory::used_bytes() const {
  std::int64_t used = 0;
  for (const auto& [address, bytes] : ranges_) {
    used += *resident_bytes(address, bytes);
  }
  return used;
}

std::optional<std::int64_t> HostMemory::resident_bytes(Address address, std::int64_t bytes) const {
  constexpr std::int64_t pages_a_look = 1 << 16;
  std::vector<unsigned char> resident(
      static_cast<std::size_t>(std::min(pages_a_look, whole_granules(bytes, granule_bytes_) / granule_bytes_)));
  std::int64_t pages = 0;
  for (std::int64_t at = 0; at < bytes; at += pages_a_look * granule_bytes_) {
    const std::int64_t part = std::min(bytes - at, pages_a_look * granule_bytes_);
    if (mincore(pointer(address + static_cast<Address>(at)), static_cast<std::size_t>(part), resident.data()) != 0) {
      continue;  // a hole: nothing is there
    }
    const auto end = resident.begin() + whole_granules(part, granule_bytes_) / granule_bytes_;
    pages += std::count_if(resident.begin(), end, [](unsigned char page) { return (page & 1U) != 0; });
  }
  return pages * granule_bytes_;
}

SaverFault HostMemory::take(std::int64_t bytes) {
  if (bytes > capacity_bytes_ - taken_bytes_) {
    return no_room(bytes, capacity_bytes_ - taken_bytes_);
  }
  taken_bytes_ += bytes;
  return std::nullopt;
}

Result<Address, SaverError> HostMemory::reserve(std::int64_t bytes) {
  Result<Address, SaverError> address = map_pages(bytes, PROT_NONE);
  if (address) {
    ranges_[*address] = bytes;
  }
  return address;
}

void HostMemory::unreserve(Address address, std::int64_t bytes) {
  munmap(pointer(address), static_cast<std::size_t>(bytes));
  ranges_.erase(address);
}

Result<MemoryHandle, SaverError> HostMemory::create(std::int64_t bytes) {
  if (SaverFault lack = take(bytes)) {
    return *lack;
  }
  created_[next_handle_] = {bytes, 0};
  return next_handle_++;
}

SaverFault HostMemory::map(Address address, std::int64_t bytes, MemoryHandle handle) {
  if (mprotect(pointer(address), static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE) != 0) {
    return kernel_error("mprotect", bytes);
  }
  populate(address, bytes, granule_bytes_);
  created_[handle].address = address;
  return std::nullopt;
}

SaverFault HostMemory::unmap(Address address, std::int64_t bytes) {
  if (mprotect(pointer(address), static_cast<std::size_t>(bytes), PROT_NONE) != 0) {
    return kernel_error("mprotect", bytes);
  }
  return std::nullopt;
}

SaverFault HostMemory::release(MemoryHandle handle) {
  const Created memory = created_[handle];
  created_.erase(handle);
  taken_bytes_ -= memory.bytes;
  const auto range = ranges_.find(memory.address);
  if (range != ranges_.end() &&
      madvise(pointer(memory.address), static_cast<std::size_t>(memory.bytes), MADV_DONTNEED) != 0) {
    return kernel_error("madvise", memory.bytes);
  }
  return std::nullopt;
}

Result<Address, SaverError> HostMemory::allocate(std::int64_t bytes) {
  const std::int64_t whole = whole_granules(bytes, granule_bytes_);
  if (SaverFault lack = take(whole)) {
    return *lack;
  }
  Result<Address, SaverError> address = map_pages(whole, PROT_READ | PROT_WRITE);
  if (!address) {
    taken_bytes_ -= whole;
    return address;
  }
  populate(*address, whole, granule_bytes_);
  ranges_[*address] = whole;
  return address;
}

void HostMemory::free(Address address, std::int64_t bytes) {
  const std::int64_t whole = whole_granules(bytes, granule_bytes_);
  munmap(pointer(address), static_cast<std::size_t>(whole));
  ranges_.erase(address);
  taken_bytes_ -= whole;
}

SaverFault HostMemory::write(Address address, std::span<const std::byte> from) {
  std::copy(from.begin(), from.end(), static_cast<std::byte*>(pointer(address)));
  return std::nullopt;
}

SaverFault HostMemory::read(Address address, std::span<std::byte> to) const {
  const auto* from = static_cast<const std::byte*>(pointer(address));
  std::copy(from, from + to.size(), to.begin());
  return std::nullopt;
}

SaverFault HostMemory::write_stamps(Address address, std::int64_t stride, std::span<const Stamp> stamps) {
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    std::memcpy(pointer(address + static_cast<Address>(stride) * i), &stamps[i], sizeof(Stamp));
  }
  return std::nullopt;
}

SaverFault HostMemory::read_stamps(Address address, std::int64_t stride, std::span<Stamp> stamps) const {
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    std::memcpy(&stamps[i], pointer(address + static_cast<Address>(stride) * i), sizeof(Stamp));
  }
  return std::nullopt;
}

SaverFault HostMemory::fill(Address address, std::int64_t bytes, std::byte value) {
  std::memset(pointer(address), std::to_integer<int>(value), static_cast<std::size_t>(bytes));
  return std::nullopt;
}

}  // namespace poolproof
