// What `check` makes of campaigns that the program's own implementations do not produce.
#include "cli/check_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/exit_status.hpp"
#include "cli/json.hpp"
#include "cli/junit.hpp"
#include "tests/cli/xml.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::json;

Summary reported(const CampaignReport& report, const CheckReportOptions& options = {}) {
  Console console(false, ColorMode::never);
  const Progress progress(false, 0);
  return report_check(console, options, CampaignOptions(), report, progress);
}

ImplOutcome outcome(const std::string& impl, std::uint64_t traces) {
  ImplOutcome result;
  result.impl = impl;
  result.traces = traces;
  return result;
}

CampaignReport campaign(std::vector<ImplOutcome> outcomes) {
  CampaignReport report;
  report.canary_caught = true;
  report.canary_says = "caught";
  report.outcomes = std::move(outcomes);
  return report;
}

TEST(CheckReport, MissedCanaryHasNoVerdict) {
  CampaignReport report;
  report.canary_says = "a planted fault was not seen";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Summary summary = reported(report);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("holds"), std::string::npos);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the canary was not caught"), std::string::npos);
  EXPECT_EQ(summary.status, exit_no_verdict);
  const Json json = Json::parse(to_json(summary));
  EXPECT_EQ(json["canary"]["caught"], false);
  EXPECT_EQ(json["canary"]["says"], "a planted fault was not seen");
  EXPECT_EQ(json["exit_status"], 3);
  EXPECT_TRUE(json["results"].empty());
  EXPECT_EQ(xml_fault(to_junit(summary)), "");
  EXPECT_NE(to_junit(summary).find("errors=\"1\""), std::string::npos);
}

TEST(CheckReport, WhatCouldNotBeRunHasNoVerdict) {
  ImplOutcome dying = outcome("dying", 3);
  dying.could_not_run = "trace 2 of seed 1, op 4: gauges: the <worker> died & took \"all\" \x01with it";
  testing::internal::CaptureStdout();
  const Summary summary = reported(campaign({outcome("host", 10), dying}));
  EXPECT_NE(testing::internal::GetCapturedStdout().find("dying could not be run: trace 2"), std::string::npos);
  EXPECT_EQ(summary.status, exit_no_verdict);
  const Json json = Json::parse(to_json(summary));
  EXPECT_EQ(json["results"][0]["status"], "holds");
  EXPECT_EQ(json["results"][1]["status"], "could_not_run");
  EXPECT_EQ(json["results"][1]["error"], dying.could_not_run);
  EXPECT_EQ(xml_fault(to_junit(summary)), "") << to_junit(summary);
}

TEST(CheckReport, AnImplementationWithoutATraceDoesNotHold) {
  testing::internal::CaptureStdout();
  const Summary summary = reported(campaign({outcome("host", 0)}));
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("holds"), std::string::npos);
  EXPECT_EQ(Json::parse(to_json(summary))["results"][0]["status"], "not_run");
  EXPECT_EQ(xml_fault(to_junit(summary)), "");
  EXPECT_NE(to_junit(summary).find("skipped=\"1\""), std::string::npos);
}

TEST(CheckReport, BytesThatAreNoUtf8StayJson) {
  ImplOutcome odd = outcome("odd", 1);
  odd.could_not_run = "\xff\xfe";
  testing::internal::CaptureStdout();
  const Summary summary = reported(campaign({odd}));
  testing::internal::GetCapturedStdout();
  EXPECT_TRUE(Json::accept(to_json(summary)));
  EXPECT_EQ(xml_fault(to_junit(summary)), "");
}

TEST(CheckReport, EmptyCoverageIsNotWhatWasRequired) {
  ImplOutcome host = outcome("host", 1);
  host.coverage.new_trace(named_geometries().front().geometry);
  CheckReportOptions options;
  options.require_coverage = true;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Summary summary = reported(campaign({host}), options);
  testing::internal::GetCapturedStdout();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not exercised"), std::string::npos);
  EXPECT_EQ(summary.status, exit_no_verdict);
}

}  // namespace
}  // namespace poolproof::cli
