// Stamps: eight bytes a token that say whose KV it is, so that a read can tell a foreign or stale value from its own.
#pragma once

#include "model/units.hpp"

namespace poolproof {

/// Which storage the stamp was written to.
enum class StampKind : std::uint8_t { full, swa, ring };

/// What a stamp says. `generation` counts lendings (full and SWA pages) or slot lives (ring) over the whole run, so no
/// two owners share one; 0 is "never written".
struct StampParts {
  std::uint32_t generation = 0;
  std::uint32_t position = 0;  ///< low 30 bits of the position
  StampKind kind = StampKind::full;
};

constexpr Stamp make_stamp(std::uint32_t generation, Pos position, StampKind kind) {
  return (static_cast<Stamp>(generation) << 32U) | (static_cast<Stamp>(kind) << 30U) |
         (static_cast<Stamp>(position) & 0x3fffffffU);
}

constexpr StampParts stamp_parts(Stamp stamp) {
  return {static_cast<std::uint32_t>(stamp >> 32U), static_cast<std::uint32_t>(stamp & 0x3fffffffU),
          static_cast<StampKind>((stamp >> 30U) & 3U)};
}

}  // namespace poolproof
