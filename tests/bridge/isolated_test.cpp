// Implementations of the registry in processes of their own: they are found, shrunk and told of as in this process, and
// one that dies, hangs or spoils its process is a verdict.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "impl/ranks.hpp"
#include "tests/bridge/external.hpp"

namespace poolproof::testing {
namespace {

const char* const some_ops =
    "poolproof 1\npool layout=paged page=4 full=8p\n"
    "extend r0 0..6\nextend r1 0..9\ndecode r0\nfree_segment r1 0..9\nextend r1 0..3\nfree r0 0..7\n";

/// A program that stands in for poolproof: a shell script, called as `SCRIPT worker --impl NAME --rank K`.
class StandIn {
 public:
  StandIn(const std::string& name, const std::string& script) : path_(::testing::TempDir() + name) {
    std::ofstream(path_) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~StandIn() { std::filesystem::remove(path_); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string hostile_script(const std::string& arguments) {
  return std::string("exec '") + POOLPROOF_HOSTILE + "' " + arguments;
}

std::vector<std::string> mutant_names() {
  std::vector<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant && !impl.memory) {  // the protocol has no calls for memory
      names.push_back(impl.name);
    }
  }
  return names;
}

class IsolatedMutant : public ::testing::TestWithParam<std::string> {};

TEST_P(IsolatedMutant, IsFoundAndShrunkAsInThisProcess) {
  const ImplInfo& impl = *find_impl(GetParam());
  const ExternalImpl apart = isolated(impl, POOLPROOF_BINARY);
  const CampaignReport there = campaign(apart.info, 2000);
  const CampaignReport here = campaign(impl, 2000);
  ASSERT_TRUE(here.outcomes[0].finding.has_value()) << verdict_of(here);
  ASSERT_TRUE(there.outcomes[0].finding.has_value()) << verdict_of(there);
  EXPECT_EQ(verdict_of(there), verdict_of(here));
  const Finding& found = *there.outcomes[0].finding;
  EXPECT_EQ(found.trace_index, here.outcomes[0].finding->trace_index);
  EXPECT_EQ(found.impl, impl.name);
  EXPECT_EQ(found.shrunk.evaluations, here.outcomes[0].finding->shrunk.evaluations);
  EXPECT_TRUE(found.reproduced);
}

INSTANTIATE_TEST_SUITE_P(All, IsolatedMutant, ::testing::ValuesIn(mutant_names()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Isolated, TheEntryIsThatOfTheRegistry) {
  const ImplInfo& impl = *find_impl("B30");
  const ExternalImpl apart = isolated(impl, POOLPROOF_BINARY);
  EXPECT_EQ(apart.info.name, impl.name);
  EXPECT_EQ(apart.info.kind, impl.kind);
  EXPECT_EQ(apart.info.source, impl.source);
  EXPECT_EQ(apart.info.mechanism, impl.mechanism);
  EXPECT_EQ(apart.info.caught_by, impl.caught_by);
  EXPECT_EQ(apart.session->starts(), 0U) << "nothing is started before it is needed";
}

TEST(Isolated, TheHostTwinHolds) {
  const ExternalImpl apart = isolated(*find_impl("host"), POOLPROOF_BINARY);
  const CampaignReport report = campaign(apart.info, 100);
  EXPECT_EQ(verdict_of(report), "holds");
  EXPECT_EQ(report.outcomes[0].coverage.missing(), campaign(*find_impl("host"), 100).outcomes[0].coverage.missing());
  EXPECT_EQ(apart.session->starts(), 1U);
}

TEST(Isolated, WhatCannotBeBuiltSaysTheSame) {
  const ImplInfo& impl = *find_impl("B15-group-end");
  const Trace trace = parsed(some_ops);
  const RunResult here = run_and_pin(trace, impl);
  const RunResult there = run_and_pin(trace, isolated(impl, POOLPROOF_BINARY).info);
  EXPECT_NE(here.build_error.find("B15-group-end cannot show on this pool"), std::string::npos);
  EXPECT_EQ(there.build_error, here.build_error);
}

TEST(Isolated, AProgramThatDoesNotStartCannotBeBuilt) {
  const ExternalImpl apart = isolated(*find_impl("host"), "/nowhere/poolproof");
  const RunResult run = run_and_pin(parsed(some_ops), apart.info);
  EXPECT_NE(run.build_error.find("it did not say hello: ended with exit status 127"), std::string::npos)
      << run.build_error;
  const CampaignReport report = campaign(apart.info, 3);
  EXPECT_NE(report.outcomes[0].could_not_run.find("cannot be built for"), std::string::npos);
}

TEST(Isolated, ThePathMayHoldWhatTheShellReads) {
  const std::string link = ::testing::TempDir() + "it's $HOME; `a` \"program\" & more";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(POOLPROOF_BINARY, link);
  const RunResult run = run_and_pin(parsed(some_ops), isolated(*find_impl("host"), link).info);
  std::filesystem::remove(link);
  EXPECT_EQ(run.build_error, "");
  EXPECT_FALSE(run.verdict.has_value());
}

TEST(Isolated, OneThatDiesIsAVerdictAndIsShrunk) {
  const StandIn crashing("crashing worker", hostile_script("--at free_segments --do crash"));
  const ExternalImpl apart = isolated(*find_impl("host"), crashing.path());
  const CampaignReport report = campaign(apart.info, 20);
  ASSERT_TRUE(report.outcomes[0].finding.has_value()) << verdict_of(report);
  const Finding& finding = *report.outcomes[0].finding;
  EXPECT_EQ(finding.impl, "host");
  EXPECT_EQ(finding.shrunk.verdict.cause, Cause(Breakdown{BreakdownKind::died, "killed by SIGABRT"}));
  EXPECT_LE(finding.shrunk.trace.ops.size(), 2U) << print_trace(finding.shrunk.trace);
  EXPECT_GT(apart.session->starts(), 3U);
}

TEST(Isolated, OneThatHangsIsAVerdict) {
  const StandIn hanging("hanging-worker", hostile_script("--at free_segments --do hang"));
  const ExternalImpl apart = isolated(*find_impl("host"), hanging.path(), std::chrono::milliseconds(300));
  const RunResult run = run_and_pin(parsed(some_ops), apart.info);
  ASSERT_TRUE(run.verdict.has_value()) << run.build_error;
  EXPECT_EQ(run.verdict->cause, Cause(Breakdown{BreakdownKind::hung, {}}));
  EXPECT_EQ(run.verdict->op, 4U);
}

// ---- a process that is spoilt for good

std::string spoilt() { return std::string("exec:'") + POOLPROOF_SPOILT + "'"; }

TEST(SpoiltForGood, TheWorkerAnswersEndsItselfAndIsStartedAfresh) {
  const ExternalImpl impl = started(spoilt());
  for (const bool call_by_call : {true, false, true}) {
    const RunResult run = run_trace(parsed(some_ops), impl.info, {.census_every = 1, .call_by_call = call_by_call});
    ASSERT_TRUE(run.verdict.has_value()) << run.build_error;
    EXPECT_EQ(run.verdict->cause, Cause(Breakdown{BreakdownKind::raised, "DeviceFault in free_segments"}));
    EXPECT_EQ(run.verdict->op, 4U);
    EXPECT_NE(run.verdict->what.find("DeviceFault in free_segments: an illegal memory access"), std::string::npos)
        << run.verdict->what;
  }
  // It builds a second pool without complaint, so these are starts after an end of its own.
  EXPECT_EQ(impl.session->starts(), 3U);
}

TEST(SpoiltForGood, ItIsFoundAndShrunk) {
  const ExternalImpl impl = started(spoilt());
  const CampaignReport report = campaign(impl.info, 20);
  ASSERT_TRUE(report.outcomes[0].finding.has_value()) << verdict_of(report);
  EXPECT_EQ(cause_id(report.outcomes[0].finding->shrunk.verdict.cause), "RAISED");
  EXPECT_LE(report.outcomes[0].finding->shrunk.trace.ops.size(), 2U);
}

TEST(LeavingChildren, BetweenTwoPoolsAreStartedAgain) {
  const ExternalImpl impl = started(hostile("--at census --do leave"));
  for (int i = 0; i < 3; ++i) {
    const RunResult run = run_trace(parsed(some_ops), impl.info, {.census_every = 0, .call_by_call = true});
    EXPECT_EQ(run.build_error, "");
    EXPECT_FALSE(run.verdict.has_value());
  }
  EXPECT_EQ(impl.session->starts(), 3U);
}

TEST(LeavingChildren, WithinATraceHaveDied) {
  const ExternalImpl impl = started(hostile("--at free_segments --do leave"));
  const RunResult run = run_trace(parsed(some_ops), impl.info, {.census_every = 0, .call_by_call = true});
  ASSERT_TRUE(run.verdict.has_value());
  EXPECT_EQ(run.verdict->cause, Cause(Breakdown{BreakdownKind::died, "ended with exit status 0"}));
  EXPECT_EQ(run.verdict->op, 4U);
}

// ---- replicas, a process each

TEST(RanksApart, TheHostTwinAgreesWithItself) {
  for (const ExternalImpl& impl : {started(worker("host")), isolated(*find_impl("host"), POOLPROOF_BINARY)}) {
    CampaignOptions options;
    options.impls = {&impl.info};
    options.traces = 20;
    options.ranks = 3;
    EXPECT_EQ(verdict_of(run_campaign(options)), "holds");
  }
}

TEST(RanksApart, EachIsToldItsRankAndOneThatDiesIsNamed) {
  const StandIn second_dies("second-rank-dies", "case \"$*\" in *'--rank 1') " +
                                                    hostile_script("--at free_segments --do crash") + ";; *) " +
                                                    hostile_script("") + ";; esac");
  const ExternalImpl apart = isolated(*find_impl("host"), second_dies.path());
  const Trace trace = parsed(some_ops);
  EXPECT_FALSE(run_and_pin(trace, apart.info).verdict.has_value());
  const RunResult run = run_and_pin(trace, with_ranks(apart.info, 2));
  ASSERT_TRUE(run.verdict.has_value()) << run.build_error;
  EXPECT_EQ(run.verdict->cause, Cause(Breakdown{BreakdownKind::died, "killed by SIGABRT"}));
  EXPECT_NE(run.verdict->what.find("rank 1: killed by SIGABRT"), std::string::npos) << run.verdict->what;
  EXPECT_EQ(run.verdict->op, 4U);
}

}  // namespace
}  // namespace poolproof::testing
