// For test suites: does this trace hold on this implementation? The tests that reports print use it.
//
//   EXPECT_TRUE(poolproof::holds("host", R"trace(poolproof 1
//   pool layout=paged page=4 full=8p
//   extend r0 0..5
//   free r0 0..5
//   )trace"));
//
// GoogleTest is not needed to build this; under it, a failing EXPECT_TRUE prints the whole explanation.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "impl/registry.hpp"
#include "model/verdict.hpp"

namespace poolproof {

/// What a test framework's assertion result can do (testing::AssertionResult): made from a bool, fed with text.
template <typename T>
concept AssertionResultLike = std::is_class_v<T> && std::constructible_from<T, bool> && requires(T result) {
  { result.failure_message() } -> std::convertible_to<const char*>;
  result << std::string();
};

/// True when the trace held.
struct TraceOutcome {
  bool ok = false;
  std::string explanation;         ///< why not: the report for a person, or why it could not be run; empty when it held
  std::optional<Verdict> verdict;  ///< what was broken; nothing when it held or could not be run

  explicit operator bool() const { return ok; }

  /// So that EXPECT_TRUE(holds(...)) prints the explanation.
  template <AssertionResultLike T>
  operator T() const {  // NOLINT(google-explicit-constructor): the assertion converts implicitly or not at all
    T result(ok);
    result << explanation;
    return result;
  }
};

/// Runs the trace on a built-in implementation, or on "exec:COMMAND", with a census after each op. A trace that does
/// not parse, breaks the protocol or cannot be run does not hold. With `ranks` replicas, each of a process of its own
/// where it is external, all must agree too.
TraceOutcome holds(std::string_view impl_name, std::string_view trace_text, std::uint32_t ranks = 1);

/// The same on an implementation of your own (docs/adapter.md).
TraceOutcome holds(const ImplInfo& impl, std::string_view trace_text, std::uint32_t ranks = 1);

std::ostream& operator<<(std::ostream& out, const TraceOutcome& outcome);

}  // namespace poolproof
