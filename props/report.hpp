// What a person reads of a verdict: the explanation, the replay line, a GoogleTest to paste.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

/// Everything a report of one failure shows.
struct FailureView {
  std::string impl;
  const Trace* trace = nullptr;      ///< the trace to show (shrunk where it was)
  const Verdict* verdict = nullptr;  ///< of that trace
  std::string trace_file;            ///< where it was written; empty: nowhere
  std::string note;                  ///< stands behind the trace's heading, "shrunk from 118"; may be empty
  bool snippet = true;               ///< print the GoogleTest too
  std::uint32_t ranks = 1;           ///< replicas that it was run on
};

/// The explanation for a person, several lines, with or without ANSI colour. Of a long trace only the ops around the
/// failing one and the one it collides with are shown.
std::string explain_failure(const FailureView& view, bool color);

/// "poolproof replay FILE --impl NAME", with --ranks N where it was run on several, ready for a shell.
std::string replay_line(const FailureView& view);

/// A ready GoogleTest TEST() that holds once the bug is fixed.
std::string gtest_snippet(const FailureView& view);

/// "F:22", "S:7": a page of the full pool, of the SWA pool.
std::string page_name(Pool pool, Page page);

/// Op number `op` of the trace (from 1) as its line; "construction" for 0.
std::string op_text(const Trace& trace, OpIndex op);

}  // namespace poolproof
