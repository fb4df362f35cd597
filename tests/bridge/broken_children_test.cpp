// A child that dies, hangs or talks nonsense: a verdict when the op is to blame, an incident when it is not, and never
// a crash or a wait of ours.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <ostream>

#include "tests/bridge/external.hpp"

namespace poolproof::testing {
namespace {

constexpr std::chrono::milliseconds short_limit(400);

struct Case {
  const char* name;
  const char* what;
  BreakdownKind kind;
  const char* signature;
  const char* says;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class BrokenChild : public ::testing::TestWithParam<Case> {};

const char* const some_ops =
    "poolproof 1\npool layout=paged page=4 full=8p reqs=2\n"
    "slot r0\nextend r0 0..6\nextend r1 0..9\ndecode r0\nfree_segment r1 0..9\nextend r1 0..3\nfree r0 0..7\n";

TEST_P(BrokenChild, IsBlamedOnItsOp) {
  const ExternalImpl impl = started(hostile(std::string("--at free_segments --do ") + GetParam().what), short_limit);
  const RunResult run = run_and_pin(parsed(some_ops), impl.info);
  ASSERT_TRUE(run.verdict.has_value());
  const auto* breakdown = std::get_if<Breakdown>(&run.verdict->cause);
  ASSERT_NE(breakdown, nullptr) << cause_id(run.verdict->cause) << ": " << run.verdict->what;
  EXPECT_EQ(breakdown->kind, GetParam().kind) << run.verdict->what;
  EXPECT_EQ(breakdown->signature, GetParam().signature);
  EXPECT_EQ(run.verdict->op, 5U);
  EXPECT_NE(run.verdict->what.find(GetParam().says), std::string::npos) << run.verdict->what;
  EXPECT_TRUE(run.verdict->allocator_fault());
}

TEST_P(BrokenChild, IsShrunkAcrossRestarts) {
  const ExternalImpl impl = started(hostile(std::string("--at free_segments --do ") + GetParam().what), short_limit);
  const RunResult run = run_and_pin(parsed(some_ops), impl.info);
  ASSERT_TRUE(run.verdict.has_value());
  ShrinkOptions options;
  options.max_evaluations = 30;
  const std::optional<ShrinkResult> shrunk = shrink(parsed(some_ops), impl.info, run.verdict->cause, options);
  ASSERT_TRUE(shrunk.has_value());
  EXPECT_LE(shrunk->trace.ops.size(), 2U);
  EXPECT_GT(impl.session->starts(), 3U);
}

TEST_P(BrokenChild, ThatRecoversIsAnIncidentAndTheCampaignGoesOn) {
  const std::string mark = ::testing::TempDir() + "hostile-" + GetParam().name;
  std::filesystem::remove(mark);
  const ExternalImpl impl =
      started(hostile(std::string("--at free:8 --do ") + GetParam().what + " --once '" + mark + "'"), short_limit);
  CampaignOptions options;
  options.impls = {&impl.info};
  options.traces = 30;
  const CampaignReport report = run_campaign(options);
  std::filesystem::remove(mark);
  ASSERT_EQ(report.outcomes.size(), 1U);
  const ImplOutcome& outcome = report.outcomes[0];
  EXPECT_EQ(outcome.incidents.size(), 1U);
  EXPECT_EQ(outcome.traces, 30U);
  EXPECT_FALSE(outcome.finding.has_value());
  EXPECT_EQ(outcome.could_not_run, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenChild,
    ::testing::Values(
        Case{"Crash", "crash", BreakdownKind::died, "killed by SIGABRT",
             "killed by SIGABRT; its stderr ends with: about to crash"},
        Case{"Exit", "exit", BreakdownKind::died, "ended with exit status 7", "exit status 7"},
        Case{"Close", "close", BreakdownKind::died, "closed its pipes and went on running", "closed its pipes"},
        Case{"HalfLine", "half-line", BreakdownKind::died, "ended with exit status 0", "in the middle of a line"},
        Case{"Hang", "hang", BreakdownKind::hung, "", "no answer within 0.4 s"},
        Case{"Garbage", "garbage", BreakdownKind::garbled, "", "it is no JSON: Traceback"},
        Case{"Huge", "huge", BreakdownKind::garbled, "", "longer than 64 MiB"},
        Case{"WrongType", "wrong-type", BreakdownKind::garbled, "", "answers: expected a list"},
        Case{"TooFew", "too-few", BreakdownKind::garbled, "", "expected 1, got 0"}),
    [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; });

TEST(BrokenChildren, AreNotAskedForeverWhenTheyKeepBreakingDown) {
  // Every exchange of many calls fails, single calls do not: nothing can be said.
  const ExternalImpl impl = started(hostile("--at exchange --do exit"), short_limit);
  CampaignOptions options;
  options.impls = {&impl.info};
  options.traces = 30;
  const CampaignReport report = run_campaign(options);
  const ImplOutcome& outcome = report.outcomes[0];
  EXPECT_EQ(outcome.traces, 5U);
  EXPECT_EQ(outcome.incidents.size(), 5U);
  EXPECT_EQ(outcome.could_not_run, "it broke down 5 times, and not again when the traces were run call by call");
  EXPECT_FALSE(outcome.finding.has_value());
}

TEST(SpoiltChildren, AreStartedAgainForTheNextPool) {
  const ExternalImpl impl = started(hostile("--at free_segments --do spoil"), short_limit);
  for (int i = 0; i < 3; ++i) {
    const RunResult run = run_trace(parsed(some_ops), impl.info, {.census_every = 1, .call_by_call = true});
    ASSERT_TRUE(run.verdict.has_value()) << run.build_error;
    EXPECT_EQ(run.verdict->cause, Cause(Breakdown{BreakdownKind::raised, "DeviceError at kernel.cu:1"}));
    EXPECT_EQ(run.verdict->op, 5U);
  }
  EXPECT_EQ(impl.session->starts(), 3U);
}

TEST(StartErrors, SayWhatIsWrong) {
  const auto says = [](const std::string& name, const std::string& part) {
    const std::string error = start_error(name);
    EXPECT_NE(error.find(part), std::string::npos) << name << ": " << error;
  };
  says("exec:", "needs a command");
  says("exec:  ", "needs a command");
  says("exec:/nowhere/at/all", "ended with exit status 127");
  says("exec:/nowhere/at/all", "not found");
  says("exec:true", "ended with exit status 0");
  says("exec:echo hello", "it is no JSON: hello");
  says(hostile("--at hello --do wrong-version"), "speaks version 2 of the protocol and we speak 1");
  says(hostile("--at hello --do nameless"), "name: expected a text");
  says(hostile("--at hello --do unknown-call"),
       "pools[0].calls[1]: expected a name of docs/external.md's table, got \"fly\"");
  says(hostile("--at hello --do needs-more"), "must offer 'translate'");
  says(hostile("--at hello --do crash"), "killed by SIGABRT");
}

TEST(StartErrors, AResetThatFailsIsABuildError) {
  const ExternalImpl impl = started(hostile("--at reset --do exit"), short_limit);
  const RunResult run = run_and_pin(parsed(some_ops), impl.info);
  EXPECT_NE(run.build_error.find("exit status 7"), std::string::npos) << run.build_error;
}

}  // namespace
}  // namespace poolproof::testing
