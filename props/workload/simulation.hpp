// A workload on an implementation: the simulated scheduler's ops in lockstep, with a picture of what the pools did.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "impl/registry.hpp"
#include "model/verdict.hpp"
#include "props/lockstep.hpp"
#include "props/workload/pool_timeline.hpp"
#include "props/workload/serving.hpp"

namespace poolproof {

struct SimulationProgress {
  std::uint64_t ops = 0;
  std::uint64_t time_us = 0;
  ServingCounts counts;
};

struct SimulationOptions {
  ServingOptions serving;
  std::uint32_t census_every = 16384;  ///< ops; 0: at the end alone
  std::uint64_t most_ops = 0;          ///< 0: no limit; else the run ends there
  bool call_by_call = false;           ///< as RunOptions::call_by_call
  std::function<bool()> stop;          ///< asked now and then; true ends the run
  std::function<void(const SimulationProgress&)> progress;
  std::function<void(const Op&)> record;  ///< each op, before it is carried out
};

/// Events are kept up to this number, the first ones.
inline constexpr std::size_t most_events = 4000;

struct SimulationResult {
  std::optional<Verdict> verdict;
  std::optional<TextError> input_error;  ///< the workload is malformed; what was run until then is here
  std::string build_error;               ///< the implementation could not be built; nothing was run
  bool stopped = false;
  std::uint64_t ops = 0;
  std::uint64_t censuses = 0;
  std::uint64_t end_us = 0;  ///< simulated
  ServingCounts counts;
  PoolTimeline timeline;
  std::vector<ServingEvent> events;
};

/// Deterministic: the same options, requests and implementation give the same. The verdict is at the op at which it
/// shows; of a census it may have been broken since the census before.
SimulationResult simulate(const SimulationOptions& options, const ImplInfo& impl, RequestSource requests);

/// The first `ops` ops, as the same run makes them on any implementation.
Trace simulated_trace(const ServingOptions& options, RequestSource requests, std::uint64_t ops);

}  // namespace poolproof
