// What a buffer holds, in two figures: does it read zero, and a digest that tells one content from another.
#pragma once

#include <cstdint>

#include "impl/saver/virtual_memory.hpp"
#include "model/result.hpp"

namespace poolproof {

struct Content {
  bool zero = true;
  std::uint64_t digest = 0;
};

/// Reads all of it; the bytes must be mapped.
Result<Content, SaverError> look_at(const VirtualMemory& memory, Address address, std::int64_t bytes);

}  // namespace poolproof
