// What an implementation shows of its pools' memory: each buffer, and what the driver or the kernel counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace poolproof {

/// One buffer of a pool, or the weights.
struct BufferReport {
  std::string name;  ///< as BufferPlan::name()
  std::int64_t bytes = 0;
  std::string tag;            ///< of the region that it was allocated in; empty: in none
  std::uint64_t address = 0;  ///< where its first byte is; an identity, compared and never used
  bool paused = false;
  /// Physical bytes behind it as the kernel counts them; nothing where nobody counts by buffer (a GPU).
  std::optional<std::int64_t> resident_bytes;
  bool zero = false;         ///< it reads zero throughout; not looked at while paused
  std::uint64_t digest = 0;  ///< of its content; likewise
  bool operator==(const BufferReport&) const = default;
};

struct MemoryReport {
  std::vector<BufferReport> buffers;  ///< in the order in which they were allocated
  std::int64_t used_bytes = 0;        ///< of the whole device, as the driver says; on the host of all that is reserved
  std::int64_t granule_bytes = 1;     ///< memory is mapped in whole granules

  [[nodiscard]] const BufferReport* find(const std::string& name) const {
    for (const BufferReport& buffer : buffers) {
      if (buffer.name == name) {
        return &buffer;
      }
    }
    return nullptr;
  }
};

}  // namespace poolproof
