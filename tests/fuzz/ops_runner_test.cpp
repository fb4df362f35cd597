// Inputs as traces: what they find on planted faults, that they hold on the twin, and that a mutating search finds a
// fault within a small number of executions.
#include "fuzz/input/ops_runner.hpp"

#include <gtest/gtest.h>

#include <bitset>

#include "fuzz/input/mutate.hpp"
#include "model/trace_text.hpp"
#include "props/choices.hpp"
#include "tests/props/trace_folder.hpp"
#include "tests/props/trace_header.hpp"

namespace poolproof {
namespace {

void ignore(const StateFeatures::Reached&) {}

TEST(OpsRunner, RegressionsFailOnTheirMutantsAsInputs) {
  std::size_t caught = 0;
  for (const std::string& path : traces_in("fuzz/regressions")) {
    const auto trace = load_trace(path);
    ASSERT_TRUE(trace);
    const ImplInfo* mutant = find_impl(trace_header(file_text(path), "mutant"));
    const auto input = input_of_trace(*trace);
    if (mutant == nullptr || !input) {
      continue;
    }
    OpsRunner host(pool_kind_of(trace->geometry), *find_impl("host"));
    EXPECT_FALSE(host.run(*input, ignore)) << path;
    OpsRunner faulty(pool_kind_of(trace->geometry), *mutant);
    caught += faulty.run(*input, ignore).has_value() ? 1 : 0;
  }
  EXPECT_GT(caught, 25U);  // the others need a larger pool or another page
}

TEST(OpsRunner, AnInputIsPrintedAsATraceThatShowsTheSame) {
  const ImplInfo& mutant = *find_impl("B15-group-end");
  Trace written;
  written.geometry = pool_variant(PoolKind::ring, 0);
  written.ops = {op::SlotTake{0}, op::Extend{{{0, {0, 8}}}}, op::GroupBegin{}, op::Free{Side::both, {{0, {0, 8}}}},
                 op::GroupEnd{}};
  const std::vector<std::uint8_t> input = *input_of_trace(written);
  OpsRunner runner(PoolKind::ring, mutant);
  const auto verdict = runner.run(input, ignore);
  ASSERT_TRUE(verdict);
  const Trace trace = runner.trace_of(input);
  const RunResult again = run_trace(*parse_trace(print_trace(trace), "printed"), mutant, {.census_every = 16});
  ASSERT_TRUE(again.verdict);
  EXPECT_EQ(cause_id(again.verdict->cause), cause_id(verdict->cause));
}

std::size_t no_byte_mutation(std::uint8_t*, std::size_t size, std::size_t) { return size; }

/// A small libFuzzer: keeps what reaches new states. Executions until something is found; 0 = nothing was.
std::size_t hunt(PoolKind kind, const ImplInfo& impl, std::size_t most, std::uint64_t seed) {
  OpsRunner runner(kind, impl);
  std::bitset<feature_limit> known;
  std::vector<std::vector<std::uint8_t>> corpus{{0, 0}, {1, 0}};
  RandomChoices choices(seed, 0);
  for (std::size_t run = 1; run <= most; ++run) {
    const auto input =
        mutate_ops(corpus[choices.draw(corpus.size())], most_ops_bytes, seed * most + run, no_byte_mutation);
    bool news = false;
    const auto verdict = runner.run(input, [&](const StateFeatures::Reached& reached) {
      for (const std::uint32_t feature : reached) {
        news = news || !known.test(feature);
        known.set(feature);
      }
    });
    if (verdict) {
      return run;
    }
    if (news) {
      corpus.push_back(input);
    }
  }
  return 0;
}

TEST(OpsRunner, ASearchFindsPlantedFaultsFast) {
  EXPECT_GT(hunt(PoolKind::ring, *find_impl("B15-group-end"), 20'000, 1), 0U);
  EXPECT_GT(hunt(PoolKind::hybrid, *find_impl("B30"), 20'000, 1), 0U);
  EXPECT_GT(hunt(PoolKind::paged, *find_impl("merge-without-sort"), 20'000, 1), 0U);
}

TEST(OpsRunner, TheTwinHoldsInASearch) {
  for (const PoolKind kind : {PoolKind::token, PoolKind::paged, PoolKind::hybrid, PoolKind::ring, PoolKind::pure_swa}) {
    EXPECT_EQ(hunt(kind, *find_impl("host"), 4'000, 2), 0U) << pool_kind_name(kind);
  }
}

}  // namespace
}  // namespace poolproof
