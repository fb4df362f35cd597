// What an implementation lets the reference machine see: answers, counters, and for the census its lists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/units.hpp"

namespace poolproof {

/// served: done. refused: it does not fit, or a probe was rejected; nothing changed. failed: the implementation could
/// not perform the call at all (it died, hung, or raised); Allocator::failure() says why.
enum class Answer : std::uint8_t { served, refused, failed };

/// The counters that an engine's scheduler reads, all in tokens except slots. Read after every op.
/// token and paged layouts fill available/size and the full_ pair; the swa_ fields are not looked at there.
struct Gauges {
  Tokens available = 0;           ///< available_size()
  Tokens size = 0;                ///< size
  Tokens full_available = 0;      ///< full_available_size()
  Tokens full_size = 0;           ///< size_full
  Tokens swa_available = 0;       ///< swa_available_size(); ring: free request slots * ring_cost
  Tokens swa_size = 0;            ///< size_swa; ring: all request slots * ring_cost
  Tokens swa_pool_available = 0;  ///< the paged SWA pool's own count, vestigial in ring mode; hybrid only
  Tokens swa_pool_size = 0;       ///< the paged SWA pool's own size; hybrid only
  std::int64_t slots_free = 0;    ///< request slots free
  std::int64_t slots = 0;         ///< request slots in all
  Loc mapping_tail = -1;          ///< last entry of the mapping; hybrid only

  bool operator==(const Gauges&) const = default;
};

/// One pool's lists in pages (slots where the page size is 1), in the allocator's own order.
struct PoolCensus {
  std::vector<std::int64_t> free;      ///< ready to lend, next to be lent first
  std::vector<std::int64_t> staged;    ///< returned, waiting to be merged (need_sort)
  std::vector<std::int64_t> deferred;  ///< given back inside an open free group; a page named by two frees stands twice
  bool operator==(const PoolCensus&) const = default;
};

/// The whole allocator, for the census. Spans stay valid until the next call on the allocator.
struct Census {
  PoolCensus full;
  PoolCensus swa;                        ///< hybrid only: the paged SWA pool's
  std::span<const Loc> mapping;          ///< hybrid only; Geometry::mapping_length() entries
  std::vector<std::int64_t> free_slots;  ///< request slots that are free
};

}  // namespace poolproof
