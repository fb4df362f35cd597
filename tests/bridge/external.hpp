// External implementations, started for a test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "impl/bridge/external.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "props/lockstep.hpp"
#include "props/shrink.hpp"

namespace poolproof::testing {

inline std::string hostile(const std::string& arguments) {
  return std::string("exec:'") + POOLPROOF_HOSTILE + "' " + arguments;
}
inline std::string worker(const std::string& impl) {
  return std::string("exec:'") + POOLPROOF_BINARY + "' worker --impl " + impl;
}

/// Fails the test when it does not start.
inline ExternalImpl started(const std::string& name, std::chrono::milliseconds limit = default_answer_limit) {
  Result<ExternalImpl, std::string> opened = open_external(name, limit);
  EXPECT_TRUE(opened.ok()) << opened.error();
  return opened ? std::move(opened).value() : ExternalImpl{};
}

inline Trace parsed(const std::string& text) {
  Result<Trace, TextError> trace = parse_trace(text, "test");
  EXPECT_TRUE(trace.ok()) << trace.error().render();
  return trace ? std::move(trace).value() : Trace{};
}

inline CampaignReport campaign(const ImplInfo& impl, std::uint64_t traces, std::uint64_t seed = 1) {
  CampaignOptions options;
  options.impls = {&impl};
  options.traces = traces;
  options.seed = seed;
  return run_campaign(options);
}

/// "holds", or what was found.
inline std::string verdict_of(const CampaignReport& report) {
  const ImplOutcome& outcome = report.outcomes.at(0);
  if (!outcome.could_not_run.empty()) {
    return outcome.could_not_run;
  }
  if (outcome.finding) {
    return std::string(cause_id(outcome.finding->shrunk.verdict.cause)) + ": " + outcome.finding->shrunk.verdict.what +
           "\n" + print_trace(outcome.finding->shrunk.trace);
  }
  return outcome.incidents.empty() ? "holds" : outcome.incidents.front();
}

/// Why there is nothing to run; empty when it starts.
inline std::string start_error(const std::string& name) {
  const Result<ExternalImpl, std::string> opened = open_external(name);
  return opened ? std::string() : opened.error();
}

}  // namespace poolproof::testing
