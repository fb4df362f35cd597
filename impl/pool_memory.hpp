// The memory behind an allocator's pools, where it builds them itself: what `pause`, `resume`, `destroy`, `build` and
// `flush` of a trace call (docs/saver.md).
#pragma once

#include "model/kv_memory.hpp"
#include "model/memory_report.hpp"
#include "model/observation.hpp"

namespace poolproof {

class PoolMemory {
 public:
  PoolMemory() = default;
  virtual ~PoolMemory() = default;
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory(PoolMemory&&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;
  PoolMemory& operator=(PoolMemory&&) = delete;

  /// The memory under the tag goes back to the device; addresses stay. refused: some of it is paused already, and
  /// nothing changed. With the saver off: served, and nothing changes.
  virtual Answer pause(MemoryTag tag) = 0;
  /// Memory at the same addresses, zero or as it was backed up. refused: some of it is not paused, and nothing changed.
  virtual Answer resume(MemoryTag tag) = 0;
  /// Gives the pools' buffers up, paused or not; the weights stay. The allocator is cleared by its caller.
  virtual Answer destroy() = 0;
  /// Builds them again, as new.
  virtual Answer build() = 0;
  /// Forgets what the pools remember of KV beside their buffers (the engine's flush_cache, its pools' side).
  virtual Answer flush() = 0;
  /// Every buffer, and what the driver counts. Looks at all of the content.
  virtual Answer report(MemoryReport& out) = 0;
};

}  // namespace poolproof
