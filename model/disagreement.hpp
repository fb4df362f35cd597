// What replicas of an allocator, fed the same calls, saw differently.
#pragma once

#include <cstdint>
#include <string>

namespace poolproof {

/// One replica against the first. Reported as RANKS_AGREE.
struct Disagreement {
  std::uint32_t rank = 0;  ///< the replica that differs from rank 0
  std::string call;        ///< the last call that both were fed, "free"
  std::string what;        ///< one sentence, with the rank and the call
  std::string expected;    ///< what rank 0 shows
  std::string seen;        ///< what `rank` shows
};

}  // namespace poolproof
