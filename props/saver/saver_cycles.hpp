// Pause and resume over and over, on live pools: random traces on one memory, until so many resumes were served.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "impl/registry.hpp"
#include "impl/saver/virtual_memory.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

struct SaverCycles {
  std::uint64_t cycles = 0;  ///< resumes that were served
  std::uint64_t traces = 0;
  std::uint64_t ops = 0;
  std::int64_t used_before_bytes = 0;  ///< by the device's count, before the first pools were built
  std::int64_t used_after_bytes = 0;   ///< after the last ones were destroyed
  std::optional<Verdict> verdict;      ///< of the last trace
  Trace trace;                         ///< where there is a verdict
  [[nodiscard]] bool leaked() const { return used_after_bytes != used_before_bytes; }
};

/// Each trace builds the pools anew on `memory` by `impl`, runs ops of the generator in lockstep and gives them up; it
/// ends early at a violation, or when a trace left memory behind.
SaverCycles run_saver_cycles(const ImplInfo& impl, const VirtualMemory& memory, const Geometry& geometry,
                             std::uint64_t cycles, std::uint64_t seed, const std::function<bool()>& stop);

}  // namespace poolproof
