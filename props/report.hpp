// What people and machines read of a verdict: the explanation, the replay line, a GoogleTest to paste, JSON, JUnit.
#pragma once

#include <string>
#include <string_view>

#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

/// Everything a report of one failure shows.
struct FailureView {
  std::string impl;
  const Trace* trace = nullptr;       ///< the trace to show (shrunk where it was)
  const Verdict* verdict = nullptr;
  std::string trace_file;             ///< where it was written; empty: nowhere
};

/// The explanation for a person, several lines, with or without ANSI colour.
std::string explain_failure(const FailureView& view, bool color);

/// "poolproof replay FILE --impl NAME".
std::string replay_line(const FailureView& view);

/// A ready GoogleTest TEST() that holds once the bug is fixed.
std::string gtest_snippet(const FailureView& view);

}  // namespace poolproof
