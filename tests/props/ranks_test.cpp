// Replicas in campaigns: those that agree hold, those that do not are found, shrunk and told with the flag that shows
// them again.
#include "impl/ranks.hpp"

#include <gtest/gtest.h>

#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "props/report.hpp"
#include "props/testing.hpp"

namespace poolproof {
namespace {

const char* const two_pages_freed = "poolproof 1\npool layout=paged page=4 full=4p\nextend r0 0..8\nfree r0 0..8\n";

CampaignReport campaign(const ImplInfo& impl, std::uint32_t ranks, std::uint64_t traces) {
  CampaignOptions options;
  options.impls = {&impl};
  options.traces = traces;
  options.ranks = ranks;
  return run_campaign(options);
}

TEST(RankCampaign, TheHostTwinAgreesWithItself) {
  const CampaignReport report = campaign(*find_impl("host"), 4, 300);
  EXPECT_TRUE(report.canary_caught);
  EXPECT_FALSE(report.outcomes.at(0).finding);
  EXPECT_EQ(report.outcomes[0].could_not_run, "");
  EXPECT_EQ(report.outcomes[0].ops, 36000U);
  EXPECT_EQ(report.outcomes[0].ranks, 4U);
}

TEST(RankCampaign, AFaultOfAllReplicasIsFoundAsInOne) {
  const CampaignReport one = campaign(*find_impl("B30"), 1, 300);
  const CampaignReport three = campaign(*find_impl("B30"), 3, 300);
  ASSERT_TRUE(one.outcomes.at(0).finding);
  ASSERT_TRUE(three.outcomes.at(0).finding);
  EXPECT_EQ(three.outcomes[0].finding->shrunk.verdict.what, one.outcomes[0].finding->shrunk.verdict.what);
  EXPECT_EQ(print_trace(three.outcomes[0].finding->shrunk.trace), print_trace(one.outcomes[0].finding->shrunk.trace));
  EXPECT_EQ(three.outcomes[0].finding->ranks, 3U);
}

TEST(RankCampaign, EachReplicaOfTheMutantIsRightByItself) {
  for (const std::uint32_t rank : {0U, 1U}) {
    ImplInfo alone = *find_impl("order-of-arrival");
    alone.make = [make_rank = alone.make_rank, rank](const Geometry& g) { return make_rank(g, rank); };
    alone.ranks = 1;
    const CampaignReport report = campaign(alone, 1, 400);
    EXPECT_FALSE(report.outcomes.at(0).finding) << rank;
    EXPECT_EQ(report.outcomes[0].could_not_run, "");
  }
}

TEST(RankVerdict, NamesTheRankTheCallAndBothSides) {
  const auto trace = parse_trace(two_pages_freed, "test");
  ASSERT_TRUE(trace);
  const RunResult run = run_and_pin(*trace, with_ranks(*find_impl("order-of-arrival"), 1));
  ASSERT_TRUE(run.verdict);
  EXPECT_EQ(run.verdict->cause, Cause(Invariant::ranks_agree));
  EXPECT_EQ(run.verdict->op, 2U);
  EXPECT_EQ(
      run.verdict->what,
      "after free, the free list of the full pool of rank 1 is not that of rank 0, and both were fed the same calls");
  EXPECT_EQ(run.verdict->expected, "rank 0: pages[0] is 1 (of 4)");
  EXPECT_EQ(run.verdict->seen, "rank 1: pages[0] is 2 (of 4)");
  EXPECT_EQ(cause_blame(run.verdict->cause), "the allocator");
}

TEST(RankVerdict, LinesToPasteSayTheReplicas) {
  const auto trace = parse_trace(two_pages_freed, "test");
  ASSERT_TRUE(trace);
  Verdict verdict;
  verdict.cause = Invariant::ranks_agree;
  verdict.op = 2;
  FailureView view{"order-of-arrival", &*trace, &verdict, "a.trace", {}, true, 2};
  EXPECT_EQ(replay_line(view), "poolproof replay a.trace --impl order-of-arrival --ranks 2");
  const std::string snippet = gtest_snippet(view);
  EXPECT_NE(snippet.find("free r0 0..8\n)trace\", 2));\n"), std::string::npos) << snippet;
  EXPECT_NE(explain_failure(view, false).find("(--impl order-of-arrival --ranks 2)"), std::string::npos);
  view.ranks = 1;
  EXPECT_EQ(replay_line(view), "poolproof replay a.trace --impl order-of-arrival");
  EXPECT_NE(gtest_snippet(view).find(")trace\"));\n"), std::string::npos);
}

TEST(RankHolds, TakesReplicas) {
  EXPECT_TRUE(holds("host", two_pages_freed, 3));
  const TraceOutcome outcome = holds("order-of-arrival", two_pages_freed, 3);
  EXPECT_FALSE(outcome);
  ASSERT_TRUE(outcome.verdict);
  EXPECT_EQ(outcome.verdict->cause, Cause(Invariant::ranks_agree));
  EXPECT_NE(outcome.explanation.find("--ranks 3"), std::string::npos) << outcome.explanation;
  EXPECT_FALSE(holds("order-of-arrival", two_pages_freed)) << "a mutant gets the replicas that it takes";
}

}  // namespace
}  // namespace poolproof
