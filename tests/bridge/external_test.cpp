// Implementations over the wire: what holds here holds there, a bug is found there as here, with the same trace.
#include "tests/bridge/external.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "props/testing.hpp"

namespace poolproof::testing {
namespace {

TEST(External, TheHostTwinHoldsOverTheWire) {
  const ExternalImpl impl = started(worker("host"));
  const CampaignReport report = campaign(impl.info, 300);
  EXPECT_EQ(verdict_of(report), "holds");
  EXPECT_EQ(report.outcomes[0].ops, 36000U);
}

TEST(External, OtherNamesForPagesAndSlotsHoldToo) {
  const ExternalImpl impl = started(hostile("--renamed"));
  EXPECT_EQ(verdict_of(campaign(impl.info, 400)), "holds");
}

TEST(External, TheRenamedTwinHoldsCallByCall) {
  const ExternalImpl impl = started(hostile("--renamed"));
  for (std::uint64_t i = 0; i < 30; ++i) {
    CampaignOptions options;
    const Trace trace = campaign_trace(options, i);
    if (!impl.info.supports(trace.geometry)) {
      continue;
    }
    const RunResult run = run_trace(trace, impl.info, {.census_every = 16, .call_by_call = true});
    EXPECT_FALSE(run.verdict.has_value()) << run.verdict->what;
  }
}

class WithoutOffer : public ::testing::TestWithParam<const char*> {};

TEST_P(WithoutOffer, WhatIsNotOfferedIsLeftOutOrStoodInFor) {
  const ExternalImpl impl = started(hostile(std::string("--renamed --without ") + GetParam()));
  EXPECT_EQ(verdict_of(campaign(impl.info, 60)), "holds");
}

INSTANTIATE_TEST_SUITE_P(All, WithoutOffer,
                         ::testing::Values("alloc", "alloc_decode", "alloc_extend_swa_tail", "free_swa", "free_full",
                                           "free_segments", "free_swa_segments", "free_full_segments", "free_group",
                                           "free_group_probe", "free_duplicates", "free_tombstones", "mapping", "clear",
                                           "resize", "snapshot", "stamps", "census"),
                         [](const ::testing::TestParamInfo<const char*>& info) { return std::string(info.param); });

class MutantOverTheWire : public ::testing::TestWithParam<const char*> {};

TEST_P(MutantOverTheWire, IsFoundAndShrunkAsAtHome) {
  const ExternalImpl impl = started(worker(GetParam()));
  const CampaignReport there = campaign(impl.info, 300);
  const CampaignReport here = campaign(*find_impl(GetParam()), 300);
  ASSERT_TRUE(there.outcomes[0].finding.has_value()) << verdict_of(there);
  ASSERT_TRUE(here.outcomes[0].finding.has_value());
  EXPECT_EQ(verdict_of(there), verdict_of(here));
  EXPECT_EQ(there.outcomes[0].finding->trace_index, here.outcomes[0].finding->trace_index);
}

INSTANTIATE_TEST_SUITE_P(Some, MutantOverTheWire,
                         ::testing::Values("B01", "B15-group-end", "B20", "B30", "B17", "kv-pair-swapped",
                                           "group-borrows-indices", "merge-without-sort"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Templates, TheOneInCHolds) {
  const ExternalImpl impl = started(std::string("exec:'") + POOLPROOF_TEMPLATE_C + "'");
  const CampaignReport report = campaign(impl.info, 100);
  EXPECT_EQ(verdict_of(report), "holds");
  EXPECT_GE(report.outcomes[0].ops, 10'000U);
}

std::string template_py(const std::string& plant = {}) {
  return std::string("exec:python3 '") + POOLPROOF_SOURCE_DIR + "/adapters/template.py'" +
         (plant.empty() ? "" : " --plant " + plant);
}

bool no_python() { return std::system("python3 -c '' 2>/dev/null") != 0; }

TEST(Templates, TheOneInPythonHolds) {
  if (no_python()) {
    GTEST_SKIP() << "there is no python3";
  }
  const ExternalImpl impl = started(template_py());
  const CampaignReport report = campaign(impl.info, 100);
  EXPECT_EQ(verdict_of(report), "holds");
  EXPECT_GE(report.outcomes[0].ops, 10'000U);
}

TEST(Templates, PlantedFaultsAreCaughtShrunkAndBlamed) {
  if (no_python()) {
    GTEST_SKIP() << "there is no python3";
  }
  struct Plant {
    const char* name;
    Cause cause;
    std::size_t ops;
  };
  for (const Plant& plant :
       {Plant{"keeps-refused", Invariant::all_or_nothing, 1}, Plant{"double-free", Invariant::free_list_clean, 4},
        Plant{"assert", Breakdown{BreakdownKind::raised, "AssertionError"}, 2}}) {
    const ExternalImpl impl = started(template_py(plant.name));
    const CampaignReport report = campaign(impl.info, 100);
    ASSERT_TRUE(report.outcomes[0].finding.has_value()) << plant.name << verdict_of(report);
    const ShrinkResult& shrunk = report.outcomes[0].finding->shrunk;
    EXPECT_EQ(shrunk.verdict.cause, plant.cause) << plant.name;
    EXPECT_LE(shrunk.trace.ops.size(), plant.ops) << plant.name;
    EXPECT_TRUE(shrunk.verdict.allocator_fault());
  }
}

TEST(External, APastedTestRunsTheCommand) {
  EXPECT_TRUE(holds(worker("host"), "poolproof 1\npool layout=token page=1 full=2\nalloc r0 0..2\nfree r0 0..2\n"));
  EXPECT_FALSE(
      holds(worker("B30"), "poolproof 1\npool layout=hybrid page=1 full=2 swa=1 window=1\ndecode r0\ndecode r1\n"));
  EXPECT_NE(holds("exec:false", "poolproof 1\n").explanation.find("could not be run"), std::string::npos);
}

TEST(External, AnOpThatIsNotOfferedCannotBeRun) {
  const ExternalImpl impl = started(hostile("--without free_segments"));
  const RunResult run = run_and_pin(
      parsed("poolproof 1\npool layout=paged page=4 full=8p\nextend r0 0..8\nfree_segment r0 0..8\n"), impl.info);
  ASSERT_TRUE(run.verdict.has_value());
  EXPECT_TRUE(std::holds_alternative<ImplementationFailure>(run.verdict->cause));
  EXPECT_NE(run.verdict->what.find("does not offer 'free_segments'"), std::string::npos) << run.verdict->what;
}

}  // namespace
}  // namespace poolproof::testing
