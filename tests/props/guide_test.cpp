// Guidance: what is remembered, what later traces begin with, and that a guided campaign is as sound as any.
#include "props/guide.hpp"

#include <gtest/gtest.h>

#include "model/trace_text.hpp"
#include "props/campaign.hpp"

namespace poolproof {
namespace {

Geometry token() {
  Geometry g;
  g.layout = Layout::token;
  g.full = 8;
  return g;
}

/// A trace of extends, each of which is news the first time round.
void follow(Guide& guide, Machine& machine, std::uint64_t index) {
  guide.begin(machine);
  guide.after(op::Decode{{0}}, machine, false, 3);
  guide.after(op::Clear{}, machine, false, 5);
  guide.end(index, {1, 2, 3, 4, 5, 6, 7});
}

TEST(Guide, RemembersTracesThatHadNewsUpToThere) {
  Guide guide;
  Machine machine(token());
  follow(guide, machine, 4);
  EXPECT_EQ(guide.size(), 1U);
  const std::size_t reached = guide.reached();
  EXPECT_GT(reached, 0U);
  follow(guide, machine, 5);  // nothing new
  EXPECT_EQ(guide.size(), 1U);
  EXPECT_EQ(guide.reached(), reached);
}

TEST(Guide, BeginsFreshUntilEnoughIsKnown) {
  Guide guide;
  Machine machine(token());
  follow(guide, machine, 4);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomChoices choices(seed, 0);
    const Lead lead = guide.lead(9, choices);
    EXPECT_EQ(lead.index, 9U);
    EXPECT_TRUE(lead.tape.empty());
  }
}

TEST(Guide, ATraceWithoutNewsEnds) {
  Guide guide;
  Machine machine(token());
  guide.begin(machine);
  std::uint32_t ops = 0;
  while (!guide.bored() && ops < 1000) {
    guide.after(op::Clear{}, machine, false, ops);
    ++ops;
  }
  EXPECT_GT(ops, 10U);
  EXPECT_LT(ops, 100U);
}

TEST(Guide, ResumedChoicesFollowTheTapeAndThenGoOn) {
  RandomChoices rest(1, 1);
  RandomChoices same(1, 1);
  ResumedChoices choices({7, 9}, rest);
  EXPECT_EQ(choices.draw(10), 7U);
  EXPECT_EQ(choices.draw(4), 1U);  // within the bound, whatever the tape says
  EXPECT_EQ(choices.draw(1000), same.draw(1000));
  EXPECT_EQ(choices.drawn().size(), 3U);
}

CampaignOptions guided(const std::string& impl) {
  CampaignOptions options;
  options.impls = {find_impl(impl)};
  options.traces = 600;
  options.guided = true;
  return options;
}

TEST(GuidedCampaign, HoldsOnTheTwinAndIsTheSameAgain) {
  const CampaignReport first = run_campaign(guided("host"));
  const CampaignReport second = run_campaign(guided("host"));
  ASSERT_EQ(first.outcomes.size(), 1U);
  EXPECT_FALSE(first.outcomes[0].finding);
  EXPECT_EQ(first.outcomes[0].ops, second.outcomes[0].ops);
  CampaignOptions plain = guided("host");
  plain.guided = false;
  EXPECT_NE(run_campaign(plain).outcomes[0].ops, first.outcomes[0].ops);
}

TEST(GuidedCampaign, FindsWhatTakesLongest) {
  for (const char* impl : {"B22", "restore-forgets-mapping", "merge-without-sort"}) {
    const CampaignReport report = run_campaign(guided(impl));
    ASSERT_TRUE(report.outcomes[0].finding) << impl;
    EXPECT_TRUE(report.outcomes[0].finding->reproduced) << impl;
  }
}

}  // namespace
}  // namespace poolproof
