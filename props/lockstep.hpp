// Lockstep: each op goes to the reference machine, to the implementation, and back to the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/registry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// Drives one implementation through one machine. Both outlive it.
class Lockstep {
 public:
  Lockstep(Machine& machine, Allocator& allocator);

  /// Goes on with another implementation, in the same state as the one before; it outlives this.
  void drive(Allocator& allocator) {
    allocator_ = &allocator;
    memory_ = allocator.memory();
  }

  /// Checks the counters of the fresh implementation.
  std::optional<Verdict> start();
  /// One op. A caller-fault verdict leaves machine and implementation untouched.
  std::optional<Verdict> step(const Op& op);
  /// Whole-pool census; nothing when the implementation does not show its lists.
  std::optional<Verdict> census();
  /// Did the last step's implementation refuse?
  [[nodiscard]] bool last_refused() const { return observation_.answer == Answer::refused; }

 private:
  Answer call(const Op& op);
  Answer call_memory(const Op& op);
  Answer gather_translations();
  [[nodiscard]] bool translatable(std::span<const Loc> locs) const;
  std::optional<Verdict> refine(std::optional<Verdict> verdict);
  Verdict failure_verdict(const std::string& doing) const;

  Machine& machine_;
  Allocator* allocator_;
  PoolMemory* memory_;  ///< the allocator's; null: it builds none
  Plan plan_;
  Observation observation_;
  Census census_;
  Locs locs_;
  Locs translations_;
  std::vector<Stamp> full_stamps_;
  std::vector<Stamp> swa_stamps_;
  Locs call_locs_;
  std::vector<Segment> segments_;
  MemoryReport before_;
  MemoryReport after_;
};

/// How a trace is run.
struct RunOptions {
  std::uint32_t census_every = 64;  ///< ops between censuses; 1 = after each op; 0 = at the end alone
  std::uint64_t census_from = 0;    ///< no census before so many ops
  bool repair = false;              ///< mend or leave out ops that break the protocol instead of blaming the caller
  bool call_by_call = false;        ///< external implementations: an exchange a call, so that its op is known
};

/// Pages that a pool could lend.
struct FreePages {
  std::int64_t full = 0;
  std::int64_t swa = 0;
};

/// What came of it.
struct RunResult {
  std::optional<Verdict> verdict;
  std::vector<Op> executed;  ///< with repair: the ops as run, up to and with the failing one
  std::uint64_t ops = 0;     ///< ops run
  FreePages free;            ///< with repair: before the last op
  std::string build_error;   ///< the implementation could not be built for this geometry; nothing was run
};

/// Builds the implementation afresh and runs the trace on it. A breakdown is an op's fault when it comes back: where an
/// exchange of many calls broke down, the trace is run again call by call.
RunResult run_trace(const Trace& trace, const ImplInfo& impl, const RunOptions& options = {});

/// As run_trace, with the verdict at the op that broke the link: a census after each op. Of a long trace that is around
/// the op at which something shows alone, found by runs with rarer censuses before. What every reporter shows.
RunResult run_and_pin(const Trace& trace, const ImplInfo& impl);

/// Traces longer than this are not run with a census after each op from their first one on.
inline constexpr std::size_t long_trace_ops = 2000;
/// Then censuses come every so many ops, or this number squared, ...; a finding of one is pinned within them.
inline constexpr std::uint32_t rare_census = 64;

/// The op made protocol-correct with as little change as can be (ranges clipped or moved to the row's end, pieces left
/// out), or nothing when no part of it can stand.
std::optional<Op> repair_op(const Op& op, Machine& machine);

}  // namespace poolproof
