#include "props/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "props/feasible.hpp"
#include "tests/props/run_generator.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t campaign_traces = 20'000;
constexpr std::size_t campaign_ops = 120;

bool lists(const std::vector<std::string>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) {
    text += one + "\n";
  }
  return text;
}

Geometry named(std::string_view name) {
  const auto& all = named_geometries();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const NamedGeometry& geometry) { return geometry.name == name; });
  return found->geometry;
}

/// Steps the ops on the host twin and counts them.
Coverage cover(const Geometry& geometry, const std::vector<Op>& ops) {
  Coverage coverage;
  const auto allocator = find_impl("host")->make(geometry);
  EXPECT_TRUE(allocator.ok());
  Machine machine(geometry);
  Lockstep lockstep(machine, **allocator);
  EXPECT_FALSE(lockstep.start().has_value());
  coverage.new_trace(geometry);
  for (const Op& op : ops) {
    coverage.before(op, machine);
    const auto verdict = lockstep.step(op);
    EXPECT_FALSE(verdict.has_value()) << print_op(op, geometry) << ": " << (verdict ? verdict->what : "");
    coverage.after(op, machine, lockstep.last_refused());
  }
  return coverage;
}

Coverage cover_text(const std::string& text) {
  const auto trace = parse_trace(text, "test");
  EXPECT_TRUE(trace.ok());
  return cover(trace->geometry, trace->ops);
}

TEST(Coverage, CountsWordsByOutcomeAndPairs) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=paged page=4 full=2p reqs=1\n"
      "extend r0 0..8\n"
      "extend r1 0..1\n"
      "free r0 0..8\n");
  EXPECT_EQ(coverage.ops(), 3U);
  EXPECT_EQ(coverage.served(OpWord::extend), 1U);
  EXPECT_EQ(coverage.refused(OpWord::extend), 1U);
  EXPECT_EQ(coverage.pair(OpWord::extend, OpWord::extend), 1U);
  EXPECT_EQ(coverage.pair(OpWord::extend, OpWord::free), 1U);
  EXPECT_EQ(coverage.pair(OpWord::free, OpWord::extend), 0U);
  EXPECT_EQ(coverage.corner(Corner::exactly_full), 1U);
  EXPECT_EQ(coverage.corner(Corner::full_exhausted), 1U);
  EXPECT_EQ(coverage.corner(Corner::one_over), 1U);
  EXPECT_EQ(coverage.corner(Corner::page_border), 1U);
}

TEST(Coverage, NoPairCrossesTraces) {
  const Geometry g = named("paged-p4");
  const Op op = op::Extend{{{0, {0, 4}}}};
  Machine machine(g);
  Coverage coverage;
  for (int trace = 0; trace < 2; ++trace) {
    coverage.new_trace(g);
    coverage.before(op, machine);
    coverage.after(op, machine, true);
  }
  EXPECT_EQ(coverage.refused(OpWord::extend), 2U);
  EXPECT_EQ(coverage.pair(OpWord::extend, OpWord::extend), 0U);
}

TEST(Coverage, MergingAddsUp) {
  Coverage coverage = cover(named("paged-p4"), {op::Extend{{{0, {0, 4}}}}, op::Extend{{{0, {4, 5}}}}});
  coverage.merge(cover(named("hybrid-p4"), {op::Extend{{{0, {0, 4}}}}, op::Extend{{{0, {4, 5}}}}}));
  EXPECT_EQ(coverage.ops(), 4U);
  EXPECT_EQ(coverage.pair(OpWord::extend, OpWord::extend), 2U);
  EXPECT_EQ(coverage.corner(Corner::page_border), 2U);
  EXPECT_TRUE(lists(coverage.missing(), "free_swa")) << "the other's geometries count";
}

TEST(Coverage, CountsGroups) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=paged page=4 full=8p reqs=1\n"
      "extend r0 0..14\n"
      "group_begin\n"
      "group_end\n"
      "group_begin\n"
      "free_segment r0 12..14\n"
      "free r0 8..12\n"
      "extend r1 0..1\n"
      "free r0 0..8, r0 4..8\n"
      "group_end\n");
  EXPECT_EQ(coverage.corner(Corner::group_empty), 1U);
  EXPECT_EQ(coverage.corner(Corner::group_many), 1U);
  EXPECT_EQ(coverage.corner(Corner::alloc_in_group), 1U);
  EXPECT_EQ(coverage.corner(Corner::duplicate_in_free), 1U);
  EXPECT_EQ(coverage.corner(Corner::partial_last_page), 1U);
}

TEST(Coverage, CountsWindowsTombstonesAndLoadBack) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=hybrid page=4 full=8p swa=5p window=4 reqs=1\n"
      "slot r0\n"
      "slot r1\n"
      "extend r0 0..16\n"
      "extend r1 0..8\n"
      "free_swa r0 0..12\n"
      "extend r1 0..8\n"
      "free_swa r1 0..8\n"
      "extend r2 0..8\n"
      "group_begin\n"
      "remap r1 4..8 <- r2 2..6\n"
      "group_end\n");
  EXPECT_EQ(coverage.corner(Corner::slot_refused), 1U);
  EXPECT_EQ(coverage.corner(Corner::swa_bound_refusal), 1U);
  EXPECT_EQ(coverage.corner(Corner::one_over), 1U);
  EXPECT_EQ(coverage.corner(Corner::window_border), 1U);
  EXPECT_EQ(coverage.corner(Corner::tombstone_made), 2U);
  EXPECT_EQ(coverage.corner(Corner::tombstone_recovered), 1U);
  EXPECT_EQ(coverage.corner(Corner::remap_offset), 1U);
  EXPECT_EQ(coverage.corner(Corner::remap_in_group), 1U);
}

TEST(Coverage, ARefusalByBothPoolsIsNotBoundBySwa) {
  const std::string pool =
      "poolproof 1\n"
      "pool layout=hybrid page=4 full=4p swa=2p window=4 reqs=1\n";
  const Coverage by_swa = cover_text(pool + "extend r0 0..16\n");
  EXPECT_EQ(by_swa.corner(Corner::swa_bound_refusal), 1U);
  EXPECT_EQ(by_swa.corner(Corner::one_over), 0U);
  const Coverage by_both = cover_text(pool + "extend r0 0..20\n");
  EXPECT_EQ(by_both.corner(Corner::swa_bound_refusal), 0U);
}

TEST(Coverage, AnEvictionBelowTheBoundIsNotItsBorder) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=hybrid page=4 full=8p swa=5p window=4 reqs=1\n"
      "slot r0\n"
      "extend r0 0..16\n"
      "free_swa r0 0..8\n");
  EXPECT_EQ(coverage.corner(Corner::window_border), 0U);
}

TEST(Coverage, CountsSharingAndSpeculation) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=paged page=4 full=8p reqs=1\n"
      "extend r0 0..10\n"
      "trim r0 9\n"
      "copy r1 0..8 = r0\n"
      "free r0 8..9\n"
      "free r0 0..8, r1 0..8\n");
  EXPECT_EQ(coverage.corner(Corner::speculation_rejected), 1U);
  EXPECT_EQ(coverage.corner(Corner::prefix_shared), 1U);
  EXPECT_EQ(coverage.corner(Corner::shared_freed), 1U);
}

TEST(Coverage, ARingWrapsWhenItIsWrittenPastItsSize) {
  const std::string head =
      "poolproof 1\n"
      "pool layout=hybrid page=4 full=8p swa=1p ring=8 window=6 reqs=1\n"
      "slot r0\n"
      "extend r0 0..9\n";
  EXPECT_EQ(cover_text(head + "write r0 0..8\n").corner(Corner::ring_wrapped), 0U);
  EXPECT_EQ(cover_text(head + "write r0 0..9\n").corner(Corner::ring_wrapped), 1U);
}

TEST(Coverage, CountsARetractedRowOnceItRunsAgain) {
  const Coverage coverage = cover_text(
      "poolproof 1\n"
      "pool layout=paged page=4 full=8p reqs=1\n"
      "slot r0\n"
      "extend r0 0..8\n"
      "free r0 0..8\n"
      "unslot r0\n"
      "slot r0\n"
      "extend r0 0..4\n"
      "extend r0 4..5\n");
  EXPECT_EQ(coverage.corner(Corner::retract), 1U);
  EXPECT_EQ(coverage.corner(Corner::slot_recycled), 1U);
}

TEST(Coverage, CountsARestoreThatUndoesSomething) {
  const std::string head =
      "poolproof 1\n"
      "pool layout=paged page=4 full=8p reqs=1\n"
      "backup b0\n";
  EXPECT_EQ(cover_text(head + "restore b0\n").corner(Corner::restore_after_change), 0U);
  EXPECT_EQ(cover_text(head + "extend r0 0..4\nrestore b0\n").corner(Corner::restore_after_change), 1U);
}

TEST(Coverage, MissingNamesWhatWasNotShown) {
  const Coverage coverage = cover(named("hybrid-p4"), {op::Extend{{{0, {0, 4}}}}});
  const std::vector<std::string> missing = coverage.missing();
  EXPECT_FALSE(lists(missing, "extend"));
  EXPECT_TRUE(lists(missing, "extend refused"));
  EXPECT_TRUE(lists(missing, "free_swa"));
  EXPECT_TRUE(lists(missing, "pair group_begin -> free_swa"));
  EXPECT_TRUE(lists(missing, "corner tombstone_made"));
  EXPECT_FALSE(lists(missing, "alloc")) << "a paged hybrid offers none";
  EXPECT_FALSE(lists(missing, "corner ring_wrapped")) << "there is no ring";
  EXPECT_FALSE(lists(missing, "pair group_begin -> group_begin"));
  EXPECT_FALSE(lists(missing, "pair clear -> free"));
}

/// Runs a campaign as `check` does, over all named geometries. Returns the first fault, empty if none.
std::string run_campaign_traces(std::uint64_t seed, std::uint64_t traces, Coverage& coverage) {
  const auto& all = named_geometries();
  for (std::uint64_t i = 0; i < traces; ++i) {
    RandomChoices choices(seed, i);
    const Geometry g = vary_geometry(all[i % all.size()].geometry, choices);
    const GeneratedRun run = run_generated(g, choices, campaign_ops, coverage);
    if (!run.fault.empty()) {
      return run.fault;
    }
  }
  return {};
}

class CoverageOfSeed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CoverageOfSeed, ACampaignMissesNothing) {
  Coverage coverage;
  ASSERT_EQ(run_campaign_traces(GetParam(), campaign_traces, coverage), "");
  EXPECT_EQ(joined(coverage.missing()), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, CoverageOfSeed, testing::Range<std::uint64_t>(1, 6));

TEST(Coverage, MissingNamesAWordThatNobodySays) {
  Coverage coverage;
  const Geometry base = named("hybrid-p4");
  for (std::uint64_t i = 0; i < 400; ++i) {
    RandomChoices choices(1, i);
    const Geometry g = vary_geometry(base, choices);
    ASSERT_EQ(run_generated(g, choices, campaign_ops, coverage, OpWord::free_full).fault, "");
  }
  const std::vector<std::string> missing = coverage.missing();
  EXPECT_TRUE(lists(missing, "free_full"));
  EXPECT_TRUE(lists(missing, "pair free_full -> extend"));
  EXPECT_TRUE(lists(missing, "pair extend -> free_full"));
  EXPECT_FALSE(lists(missing, "free"));
  EXPECT_FALSE(lists(missing, "pair free -> extend"));
}

/// What is called infeasible must never be seen, or the measure is too lenient.
TEST(Feasible, NothingInfeasibleIsEverShown) {
  const auto& all = named_geometries();
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    Coverage coverage;
    std::vector<Geometry> seen;
    for (std::uint64_t trace = 0; trace < 60; ++trace) {
      RandomChoices choices(77, i * 1000 + trace);
      const Geometry g = vary_geometry(all[i].geometry, choices);
      seen.push_back(g);
      ASSERT_EQ(run_generated(g, choices, campaign_ops, coverage).fault, "");
    }
    const auto feasible = [&](const auto& can) { return std::any_of(seen.begin(), seen.end(), can); };
    for (std::size_t a = 0; a < op_word_count; ++a) {
      const auto first = static_cast<OpWord>(a);
      EXPECT_TRUE(coverage.served(first) == 0 ||
                  feasible([&](const Geometry& g) { return service_feasible(first, g); }))
          << all[i].name << " " << op_word_name(first);
      EXPECT_TRUE(coverage.refused(first) == 0 ||
                  feasible([&](const Geometry& g) { return refusal_feasible(first, g); }))
          << all[i].name << " " << op_word_name(first) << " refused";
      for (std::size_t b = 0; b < op_word_count; ++b) {
        const auto second = static_cast<OpWord>(b);
        EXPECT_TRUE(coverage.pair(first, second) == 0 ||
                    feasible([&](const Geometry& g) { return pair_feasible(first, second, g); }))
            << all[i].name << " " << op_word_name(first) << " -> " << op_word_name(second);
      }
    }
  }
}

}  // namespace
}  // namespace poolproof
