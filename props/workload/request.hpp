// One request of a workload, as a serving engine receives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/result.hpp"
#include "model/trace_text.hpp"
#include "model/units.hpp"

namespace poolproof {

/// Tokens that one id of Request::blocks stands for (Mooncake's trace format).
inline constexpr Pos prompt_block_tokens = 512;

struct Request {
  std::uint64_t arrival_us = 0;  ///< since the first request
  Pos input_tokens = 0;          ///< of the prompt, >= 1
  Pos output_tokens = 0;         ///< that will be generated; 0 counts as 1
  /// Ids of the prompt's blocks, the last one may be part of a block: requests whose ids begin alike share that prefix.
  /// Empty: nothing is known, and nothing is shared.
  std::vector<std::uint64_t> blocks;
};

/// The requests in the order of their arrival, nothing at the end, or what is wrong with the workload's text.
using RequestSource = std::function<Result<std::optional<Request>, TextError>()>;

}  // namespace poolproof
