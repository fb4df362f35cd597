// What a target holds its subject to beyond not crashing.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace poolproof {

/// Ends the process as a crash does, and says why.
inline void demand(bool holds, std::string_view otherwise) {
  if (!holds) {
    std::fprintf(stderr, "found: %.*s\n", static_cast<int>(otherwise.size()), otherwise.data());
    std::abort();
  }
}

}  // namespace poolproof
