// What the targets over ops share: an execution, the counters that show the engine which states it reached, and what is
// said of a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/input/ops_runner.hpp"

namespace poolproof {

/// Runs the input. On a finding prints the report, writes the trace where POOLPROOF_FUZZ_PRINT names a file, and
/// aborts. With POOLPROOF_FUZZ_PRINT every input is written, the last one wins.
void run_ops_input(OpsRunner& runner, const ImplInfo& impl, std::span<const std::uint8_t> input);

/// The implementation that POOLPROOF_FUZZ_IMPL names; `host` when it is not set. Ends the process with 2 when there is
/// none of that name.
const ImplInfo& fuzzed_impl();

}  // namespace poolproof
