// What the program's exit status means (docs/reference.md).
#pragma once

namespace poolproof::cli {

enum ExitStatus : int {
  exit_holds = 0,         ///< all that was asked for holds
  exit_violated = 1,      ///< an invariant, a protocol rule or an expectation is broken
  exit_usage = 2,         ///< bad usage or bad input
  exit_no_verdict = 3,    ///< could not be run, canary not caught, coverage required and missing
  exit_interrupted = 130  ///< SIGINT or SIGTERM, and nothing was violated until then
};

}  // namespace poolproof::cli
