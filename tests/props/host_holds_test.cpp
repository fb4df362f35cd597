// The host twins hold over every layout, page size, ring and need_sort that `check` knows, seed by seed, and nothing
// that these geometries could show is missed.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "props/campaign.hpp"

namespace poolproof {
namespace {

#if defined(POOLPROOF_SANITIZED)
constexpr std::uint64_t traces = 2'000;
constexpr bool whole = false;
#else
constexpr std::uint64_t traces = 20'000;
constexpr bool whole = true;
#endif

class HostHolds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(HostHolds, OverAllGeometries) {
  CampaignOptions options;
  options.impls = {find_impl("host")};
  options.traces = traces;
  options.seed = GetParam();
  const CampaignReport report = run_campaign(options);
  EXPECT_TRUE(report.canary_caught) << report.canary_says;
  const ImplOutcome& outcome = report.outcomes.at(0);
  EXPECT_EQ(outcome.could_not_run, "");
  EXPECT_EQ(outcome.traces, traces);
  EXPECT_FALSE(outcome.finding) << outcome.finding->shrunk.verdict.what;
  if (whole) {
    const std::vector<std::string> missing = outcome.coverage.missing();
    EXPECT_TRUE(missing.empty()) << missing.size() << " missing, the first: " << missing.front();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostHolds, testing::Range<std::uint64_t>(1, 12));

TEST(HostHolds, TheGeometriesAreAllThatTheyShouldBe) {
  const auto has = [](Layout layout, Tokens page, bool ring, bool need_sort) {
    const auto& named = named_geometries();
    return std::any_of(named.begin(), named.end(), [&](const NamedGeometry& n) {
      const Geometry& g = n.geometry;
      return g.layout == layout && g.page == page && g.ringed() == ring && g.need_sort == need_sort;
    });
  };
  for (const bool need_sort : {false, true}) {
    EXPECT_TRUE(has(Layout::token, 1, false, need_sort));
    EXPECT_TRUE(has(Layout::pure_swa, 1, false, need_sort));
    for (const Tokens page : {1, 2, 4, 16, 64, 256}) {
      EXPECT_TRUE(has(Layout::paged, page, false, need_sort)) << page;
      EXPECT_TRUE(has(Layout::hybrid, page, false, need_sort)) << page;
      EXPECT_TRUE(has(Layout::hybrid, page, true, need_sort)) << page;
    }
  }
}

}  // namespace
}  // namespace poolproof
