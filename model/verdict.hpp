// A verdict: what was broken, by whom, at which op, expected against seen, and the life of each page involved.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "model/breakdown.hpp"
#include "model/invariants.hpp"
#include "model/units.hpp"

namespace poolproof {

/// One page's life, oldest first: "lent at op 3 by extend r1 (positions 4..8)", "returned at op 9 by free r1 0..8".
struct PageHistory {
  Pool pool = Pool::full;
  Page page = 0;
  std::vector<std::string> events;
  bool operator==(const PageHistory&) const = default;
};

/// The trace's own `expect` line does not hold although the allocator did what it must.
struct ExpectationFault {
  bool operator==(const ExpectationFault&) const = default;
};

/// The implementation could not be run: no verdict on it.
struct ImplementationFailure {
  bool operator==(const ImplementationFailure&) const = default;
};

/// Allocator's fault: an Invariant, or a Breakdown at an op that keeps the protocol. Caller's fault: a Rule. Otherwise
/// the trace's expectation, or an implementation that could not be run.
using Cause = std::variant<Invariant, Rule, ExpectationFault, ImplementationFailure, Breakdown>;

struct Verdict {
  Cause cause;
  OpIndex op = 0;        ///< the op at which it shows, from 1
  OpIndex other_op = 0;  ///< the op that it collides with, 0 = none
  std::string what;      ///< one sentence: what happened
  std::string expected;  ///< may be empty
  std::string seen;      ///< may be empty
  std::vector<PageHistory> histories;

  [[nodiscard]] bool allocator_fault() const { return std::holds_alternative<Invariant>(cause) || broke_down(); }
  [[nodiscard]] bool broke_down() const { return std::holds_alternative<Breakdown>(cause); }
  [[nodiscard]] bool caller_fault() const { return std::holds_alternative<Rule>(cause); }
};

/// "RING_POOL_IDLE", "C4", "EXPECT", "IMPLEMENTATION", or a breakdown's "RAISED", "DIED", "HUNG", "GARBLED".
std::string_view cause_id(const Cause& cause);
/// The one-line statement behind the id.
std::string_view cause_statement(const Cause& cause);
/// "the allocator", "the caller", "the trace", "the implementation".
std::string_view cause_blame(const Cause& cause);

}  // namespace poolproof
