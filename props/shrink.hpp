// Shrinking: from a failing trace to the few ops that matter, with the same invariant still broken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "impl/registry.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

struct ShrinkOptions {
  /// Upper bound on runs of the implementation; reaching it is reported, and the best so far is the answer.
  std::uint64_t max_evaluations = 200'000;
  /// Asked between evaluations; true stops with the best so far.
  std::function<bool()> stop;
};

struct ShrinkResult {
  Trace trace;                    ///< protocol-correct, fails with `verdict.cause`
  Verdict verdict;                ///< of the shrunk trace, pinned to its first broken link
  std::uint64_t evaluations = 0;  ///< runs of the implementation
  bool minimal = false;           ///< no single or paired reduction still fails with the same cause
};

/// `trace` must fail on `impl` with `cause`; nothing when it does not. Deterministic.
std::optional<ShrinkResult> shrink(const Trace& trace, const ImplInfo& impl, const Cause& cause,
                                   const ShrinkOptions& options = {});

}  // namespace poolproof
