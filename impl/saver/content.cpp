#include "impl/saver/content.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace poolproof {
namespace {

/// Read at a time: large enough for a device's copy engine, small enough to stay in the cache of a core's neighbour.
constexpr std::int64_t part_bytes = std::int64_t{4} << 20;

void take_in(Content& content, const std::byte* from, std::size_t bytes) {
  std::uint64_t any = 0;
  std::uint64_t digest = content.digest;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, std::min(sizeof word, bytes - at));
    any |= word;
    digest = (digest ^ word) * 0x9E3779B97F4A7C15U;
    digest ^= digest >> 29U;
  }
  content.digest = digest;
  content.zero = content.zero && any == 0;
}

}  // namespace

Result<Content, SaverError> look_at(const VirtualMemory& memory, Address address, std::int64_t bytes) {
  Content content;
  std::vector<std::byte> part;
  for (std::int64_t at = 0; at < bytes; at += part_bytes) {
    part.resize(static_cast<std::size_t>(std::min(bytes - at, part_bytes)));
    if (SaverFault fault = memory.read(address + static_cast<Address>(at), part)) {
      return *std::move(fault);
    }
    take_in(content, part.data(), part.size());
  }
  return content;
}

}  // namespace poolproof
