// How an implementation that runs elsewhere (a child process, a device) broke down instead of answering.
#pragma once

#include <cstdint>
#include <string>

namespace poolproof {

/// raised: the call ended in an error of the implementation's own, such as a failed assertion. died: the process ended
/// or closed its pipes. hung: no answer in time. garbled: an answer that is none.
enum class BreakdownKind : std::uint8_t { raised, died, hung, garbled };

/// A breakdown that the op is to blame for: it comes back when the trace is run again. Reported as RAISED, DIED, HUNG,
/// GARBLED.
struct Breakdown {
  BreakdownKind kind = BreakdownKind::raised;
  /// Tells one breakdown from another when a trace is shrunk: "AssertionError at swa.py:200", "killed by SIGSEGV".
  std::string signature;
  bool operator==(const Breakdown&) const = default;
};

}  // namespace poolproof
