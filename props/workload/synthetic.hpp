// A workload that is drawn: Poisson arrivals or bursts, lognormal lengths, prompts that share prefixes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "props/workload/request.hpp"

namespace poolproof {

struct SyntheticWorkload {
  std::uint64_t requests = 1000;
  std::uint64_t gap_us = 100'000;  ///< mean time between two arrivals
  std::uint64_t burst = 1;         ///< requests that arrive together; 1: a Poisson process
  Pos input_tokens = 1024;         ///< median of the prompts
  std::uint32_t input_sigma_percent = 80;
  Pos output_tokens = 128;  ///< median of the answers
  std::uint32_t output_sigma_percent = 60;
  Pos longest_tokens = 131'072;      ///< of prompt or answer
  std::uint32_t shared_percent = 0;  ///< prompts that begin like others
  std::uint32_t families = 8;        ///< sets of prompts that begin alike
  Pos prefix_tokens = 2048;          ///< how long the beginning of a family is
};

/// Sets one key of "requests=1000,gap_us=..."; answers an error sentence or nothing. Keys: requests, gap_us, burst,
/// input, input_sigma, output, output_sigma, longest, shared, families, prefix.
std::optional<std::string> set_synthetic_key(SyntheticWorkload& workload, std::string_view key, std::string_view value);

/// The same requests for the same seed, on every machine.
RequestSource synthetic_requests(const SyntheticWorkload& workload, std::uint64_t seed);

}  // namespace poolproof
