// The explorer: breadth first over all op sequences of a small scope, on the real implementation, with the reference
// machine beside it and a census after each op. A finding is the shortest trace that there is; when there is none, what
// was covered is counted, and two runs of one scope count the same.
//
// A state is the machine's and the implementation's together (model/state_digest.hpp), rows renamed. From each state
// every op is run once; a sequence that comes back to a known state goes on from there as any other that led to it. So
// all sequences are covered, and only as many transitions are run as there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/explorer/scope.hpp"
#include "impl/registry.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

/// Where an exploration stands.
struct ExploreProgress {
  std::uint32_t depth = 0;       ///< sequences of so many ops are being extended
  std::uint64_t layer_done = 0;  ///< states of that depth that are extended
  std::uint64_t layer_total = 0;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t bytes = 0;  ///< of the states
};

struct ExploreOptions {
  std::uint32_t threads = 1;                             ///< the result is the same with any number
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;  ///< the states may take; ends with the depth that is complete
  std::uint64_t most_states = 0;                         ///< likewise; 0: no limit
  std::function<bool()> stop = {};                       ///< asked now and then; true ends likewise
  std::function<void(const ExploreProgress&)> progress = {};
};

/// Why an exploration came to its end.
enum class ExploreEnd : std::uint8_t {
  exhausted,     ///< no op leads to a new state: sequences of any length are covered
  depth,         ///< the scope's depth is covered
  violated,      ///< `verdict` and `trace` say by what
  memory,        ///< the memory or the number of states ran out
  stopped,       ///< by ExploreOptions::stop
  could_not_run  ///< `error` says why
};

/// All of it but `bytes` is determined by scope and implementation.
struct ExploreResult {
  ExploreEnd end = ExploreEnd::could_not_run;
  std::uint32_t depth = 0;            ///< all sequences of so many ops are covered
  std::vector<std::uint64_t> layers;  ///< new states by the length of the shortest sequence that leads there
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;  ///< ops run
  std::uint64_t refused = 0;      ///< of these, by the implementation
  /// Sequences of up to `depth` ops, at least: those counted lead to a new state with each op but the last.
  std::uint64_t sequences = 0;
  bool sequences_overflow = false;  ///< there are more than that number can tell
  std::uint64_t digest = 0;         ///< of all states in the order of their discovery
  std::uint64_t moves = 0;          ///< ops of the alphabet
  std::uint64_t bytes = 0;          ///< of the states, at the end
  std::optional<Verdict> verdict;   ///< as the run saw it, without page histories: run the trace for them
  Trace trace;
  std::string error;
};

/// Explores. `impl` can be copied and shows its state (Allocator::clone, assign, digest).
ExploreResult explore(const Scope& scope, const ImplInfo& impl, const ExploreOptions& options);

}  // namespace poolproof
