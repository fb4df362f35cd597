// Every mutant is caught by `check` at each of 20 seeds, by an invariant that it names, and shrinks to a handful of
// ops; every invariant has a mutant that it catches first; the canary is caught in every campaign.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t seeds = 20;
/// Traces until each mutant must have shown; a core runs several thousand a second.
constexpr std::uint64_t traces = 6000;

CampaignReport hunt(const ImplInfo& impl, std::uint64_t seed) {
  CampaignOptions options;
  options.impls = {&impl};
  options.traces = traces;
  options.seed = seed;
  return run_campaign(options);
}

std::size_t ops_allowed(const ImplInfo& impl) { return impl.memory || impl.name.starts_with("B15") ? 6 : 8; }

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> mutant_names() {
  std::vector<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant) {
      names.push_back(impl.name);
    }
  }
  return names;
}

class Mutant : public testing::TestWithParam<std::string> {};

TEST_P(Mutant, IsCaughtAtEachSeedAndShrinksToAHandful) {
  const ImplInfo& impl = *find_impl(GetParam());
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const CampaignReport report = hunt(impl, seed);
    ASSERT_TRUE(report.canary_caught) << report.canary_says;
    const ImplOutcome& outcome = report.outcomes.at(0);
    ASSERT_EQ(outcome.could_not_run, "");
    ASSERT_TRUE(outcome.finding) << impl.name << " survived seed " << seed;
    const ShrinkResult& shrunk = outcome.finding->shrunk;
    const auto* broken = std::get_if<Invariant>(&shrunk.verdict.cause);
    ASSERT_NE(broken, nullptr);
    EXPECT_NE(std::find(impl.caught_by.begin(), impl.caught_by.end(), *broken), impl.caught_by.end())
        << impl.name << " is not said to break " << invariant_info(*broken).id << " (seed " << seed << ")";
    EXPECT_LE(shrunk.trace.ops.size(), ops_allowed(impl)) << "seed " << seed << '\n' << print_trace(shrunk.trace);
    EXPECT_TRUE(shrunk.minimal);
  }
}

TEST_P(Mutant, ShrinksToTheSameTraceOnEveryRun) {
  const ImplInfo& impl = *find_impl(GetParam());
  const CampaignReport first = hunt(impl, 1);
  const CampaignReport second = hunt(impl, 1);
  ASSERT_TRUE(first.outcomes.at(0).finding);
  ASSERT_TRUE(second.outcomes.at(0).finding);
  EXPECT_EQ(print_trace(first.outcomes[0].finding->shrunk.trace),
            print_trace(second.outcomes[0].finding->shrunk.trace));
  EXPECT_EQ(first.outcomes[0].finding->shrunk.evaluations, second.outcomes[0].finding->shrunk.evaluations);
}

INSTANTIATE_TEST_SUITE_P(Zoo, Mutant, testing::ValuesIn(mutant_names()), name_of);

TEST(MutantsAndInvariants, EveryInvariantIsTheFirstToCatchSomeMutant) {
  std::map<std::string_view, std::set<std::string>> caught;
  for (const std::string& name : mutant_names()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const CampaignReport report = hunt(*find_impl(name), seed);
      if (report.outcomes.at(0).finding) {
        caught[cause_id(report.outcomes[0].finding->shrunk.verdict.cause)].insert(name);
      }
    }
  }
  for (const InvariantInfo& info : invariants()) {
    EXPECT_FALSE(caught[info.id].empty()) << info.id << " caught no mutant first";
  }
}

TEST(MutantsAndInvariants, EveryMutantNamesWhatCatchesIt) {
  for (const std::string& name : mutant_names()) {
    const ImplInfo& impl = *find_impl(name);
    EXPECT_FALSE(impl.caught_by.empty()) << name;
    EXPECT_FALSE(impl.mechanism.empty()) << name;
  }
}

TEST(MutantsAndInvariants, TheMutantsOfTheIssueAreThere) {
  for (const char* name : {"B01",
                           "B04",
                           "B08",
                           "B15-free-swa",
                           "B15-group-end",
                           "B15-no-clear",
                           "B16",
                           "B20",
                           "B21",
                           "B22",
                           "B26",
                           "B27",
                           "B30",
                           "B46",
                           "B61",
                           "B83",
                           "B85",
                           "B86",
                           "B87",
                           "B92",
                           "saver-no-flag",
                           "saver-mha-alone",
                           "saver-index-outside",
                           "saver-foreign-tag",
                           "saver-moves",
                           "saver-resume-shrinks",
                           "saver-keeps-handle",
                           "saver-backup-tail",
                           "saver-index-stale",
                           "canary"}) {
    EXPECT_NE(find_impl(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace poolproof
