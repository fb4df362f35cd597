// What a log shows by itself: its place, what was broken, what should have been.
#pragma once

#include <cstdint>
#include <string>

#include "model/units.hpp"

namespace poolproof {

/// violation: the allocator's. caller_fault: a protocol rule. left_out: a call that the trace has no op for. note:
/// what was assumed to go on (lent before the recording, given back in calls that are missing).
enum class LogFindingKind : std::uint8_t { violation, caller_fault, left_out, note };
inline constexpr std::size_t finding_kinds = 4;

struct LogFinding {
  LogFindingKind kind = LogFindingKind::note;
  std::string id;  ///< "AVAIL_EXACT", "C1", "RAISED"; empty for left_out and note
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t n = 0;  ///< the call's number
  std::string call;     ///< its name; empty: the header
  OpIndex op = 0;       ///< op of the trace, from 1; 0 = none
  std::string what;
  std::string expected;  ///< may be empty
  std::string recorded;  ///< may be empty
};

}  // namespace poolproof
