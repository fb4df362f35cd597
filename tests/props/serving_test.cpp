// The simulated scheduler: it keeps the protocol whatever is switched on, does what it says, loses nothing, and makes
// the same trace everywhere.
#include "props/workload/serving.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/props/workload_runs.hpp"

namespace poolproof {
namespace {

#if defined(POOLPROOF_SANITIZED)
constexpr std::uint64_t swarm_ops = 15'000;
#else
constexpr std::uint64_t swarm_ops = 700'000;
#endif

/// Short requests that come faster than they can be served.
SyntheticWorkload crowd() {
  SyntheticWorkload workload;
  workload.requests = 1'000'000;
  workload.gap_us = 2'000;
  workload.burst = 5;
  workload.input_tokens = 700;
  workload.output_tokens = 30;
  workload.longest_tokens = 4000;
  workload.shared_percent = 60;
  workload.families = 5;
  workload.prefix_tokens = 1024;
  return workload;
}

SimulationOptions options_on(const std::string& pool, std::uint64_t seed = 1) {
  SimulationOptions options;
  options.serving.geometry = pool_of(pool);
  options.serving.seed = seed;
  options.census_every = 4096;
  return options;
}

SimulationResult run(const SimulationOptions& options, const SyntheticWorkload& workload,
                     const std::string& impl = "host") {
  return simulate(options, *find_impl(impl), synthetic_requests(workload, options.serving.seed));
}

const std::vector<std::string> pools{
    "layout=token full=8192 reqs=16",
    "layout=token full=6000 need_sort=1",
    "layout=paged page=4 full=8192 reqs=8",
    "layout=paged page=256 full=64p need_sort=1",
    "layout=hybrid page=1 full=8192 swa=3000 window=64 reqs=12",
    "layout=hybrid page=16 full=512p swa=160p window=64 reqs=16 need_sort=1",
    "layout=hybrid page=64 full=128p swa=128p window=300",
    "layout=hybrid page=256 full=64p swa=20p window=128 reqs=9",
    "layout=hybrid page=1 full=8192 swa=8192 ring=80 window=64 reqs=6",
    "layout=hybrid page=16 full=512p swa=16p ring=72 window=64 reqs=7",
    "layout=hybrid page=256 full=64p swa=64p ring=256 window=128 reqs=4 need_sort=1",
    "layout=pure_swa full=4000 window=256 reqs=10",
};

// Twelve pools, of each more than 830,000 ops in two swarms: ten million without one fault of the caller's.
class KeepsTheProtocol : public testing::TestWithParam<std::string> {};

TEST_P(KeepsTheProtocol, WhateverIsSwitchedOn) {
  std::uint64_t ops = 0;
  std::uint64_t seed = 0;
  for (; ops < swarm_ops + swarm_ops / 5; ++seed) {
    SimulationOptions options = options_on(GetParam(), seed);
    RandomChoices choices(seed, 1);
    options.serving = draw_serving(options.serving, choices);
    options.most_ops = swarm_ops / 10;
    const SimulationResult result = run(options, crowd());
    ASSERT_FALSE(result.verdict) << "seed " << seed << ", op " << result.verdict->op << ": " << verdict_text(result);
    ASSERT_GT(result.counts.served, 0U) << "seed " << seed;
    ops += result.ops;
  }
  EXPECT_GE(seed, 10U);
}

INSTANTIATE_TEST_SUITE_P(Pools, KeepsTheProtocol, testing::ValuesIn(pools));

class LosesNothing : public testing::TestWithParam<std::string> {};

TEST_P(LosesNothing, EachRequestEndsAndThePoolsEndEmpty) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SimulationOptions options = options_on(GetParam(), seed);
    RandomChoices choices(seed, 2);
    options.serving = draw_serving(options.serving, choices);
    SyntheticWorkload workload = crowd();
    workload.requests = 60;
    std::uint64_t slots_taken = 0;
    std::uint64_t slots_given = 0;
    std::optional<Op> last;
    options.record = [&](const Op& op) {
      slots_taken += word_of(op) == OpWord::slot ? 1 : 0;
      slots_given += word_of(op) == OpWord::unslot ? 1 : 0;
      last = op;
    };
    const SimulationResult result = run(options, workload);
    EXPECT_FALSE(result.verdict) << verdict_text(result);
    const ServingCounts& counts = result.counts;
    EXPECT_EQ(counts.arrived, 60U);
    EXPECT_EQ(counts.served + counts.aborted + counts.rejected, 60U) << "seed " << seed;
    EXPECT_EQ(slots_taken, slots_given);
    EXPECT_GT(counts.served, 20U);
    // With everything given back, a whole pool's worth is lent at once.
    const Trace trace = simulated_trace(options.serving, synthetic_requests(workload, seed), result.ops);
    EXPECT_EQ(trace.ops.size(), result.ops);
    Trace full = trace;
    const Geometry& g = full.geometry;
    if (g.layout != Layout::pure_swa && !g.paired()) {
      full.ops.emplace_back(op::Extend{{{0, {0, g.full}}}});
      full.ops.emplace_back(op::Expect{std::nullopt, std::nullopt, std::nullopt, false});
      const RunResult run = run_trace(full, *find_impl("host"), {.census_every = 0});
      EXPECT_FALSE(run.verdict) << run.verdict->what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pools, LosesNothing, testing::ValuesIn(pools));

/// How often each word stands in a run.
std::map<OpWord, std::uint64_t> words_of(SimulationOptions options, const SyntheticWorkload& workload) {
  std::map<OpWord, std::uint64_t> words;
  options.record = [&](const Op& op) { ++words[word_of(op)]; };
  const SimulationResult result = run(options, workload);
  EXPECT_FALSE(result.verdict) << verdict_text(result);
  return words;
}

SyntheticWorkload some() {
  SyntheticWorkload workload = crowd();
  workload.requests = 300;
  return workload;
}

TEST(Features, EachIsSeenWhenOnAndGoneWhenOff) {
  struct Case {
    bool ServingFeatures::*flag;
    std::string pool;
    OpWord word;
  };
  const std::string paired = "layout=hybrid page=16 full=512p swa=160p window=64 reqs=16";
  const std::string ringed = "layout=hybrid page=16 full=512p swa=16p ring=64 window=64 reqs=7";
  const std::vector<Case> cases{
      {&ServingFeatures::prefix_cache, paired, OpWord::copy},
      {&ServingFeatures::load_back, ringed, OpWord::remap},
      {&ServingFeatures::groups, paired, OpWord::group_begin},
      {&ServingFeatures::segments, paired, OpWord::free_segment},
      {&ServingFeatures::tails, paired, OpWord::tail},
  };
  for (const Case& one : cases) {
    SimulationOptions options = options_on(one.pool);
    options.serving.features.*one.flag = true;
    EXPECT_GT(words_of(options, some())[one.word], 0U) << op_word_name(one.word);
    options.serving.features.*one.flag = false;
    EXPECT_EQ(words_of(options, some())[one.word], 0U) << op_word_name(one.word);
  }
}

TEST(Features, WindowEviction) {
  // Without the cache, whose tombstones are free_swa too.
  SimulationOptions options = options_on("layout=hybrid page=16 full=512p swa=160p window=64 reqs=16");
  options.serving.features.prefix_cache = false;
  EXPECT_GT(words_of(options, some())[OpWord::free_swa_segment], 0U);
  options.serving.features.window_eviction = false;
  EXPECT_EQ(words_of(options, some())[OpWord::free_swa_segment], 0U);
}

TEST(Features, CountsTellWhatHappened) {
  SimulationOptions options = options_on("layout=hybrid page=16 full=512p swa=160p window=64 reqs=16");
  SimulationResult result = run(options, some());
  EXPECT_GT(result.counts.aborted, 0U);
  EXPECT_GT(result.counts.refusals, 0U);
  EXPECT_GT(result.counts.evictions, 0U);
  EXPECT_GT(result.counts.tombstones, 0U);
  EXPECT_GT(result.counts.cached_tokens, 0);
  EXPECT_EQ(result.counts.rejected_tokens, 0);
  options.serving.features.aborts = false;
  options.serving.features.optimistic = false;
  result = run(options, some());
  EXPECT_EQ(result.counts.aborted, 0U);
  EXPECT_EQ(result.counts.refusals, 0U);
}

TEST(Features, RecoveryGivesTombstonesTheirPeers) {
  SimulationOptions options = options_on("layout=hybrid page=16 full=512p swa=100p window=64 reqs=16");
  options.serving.abort_permille = 0;
  const SimulationResult with = run(options, some());
  EXPECT_GT(with.counts.recoveries, 0U);
  options.serving.features.recovery = false;
  EXPECT_EQ(run(options, some()).counts.recoveries, 0U);
}

TEST(Features, ChunksBoundWhatAStepTakesIn) {
  SimulationOptions options = options_on("layout=paged page=16 full=1024p");
  options.serving.chunk_tokens = 256;
  const auto longest = [&] {
    Pos most = 0;
    options.record = [&](const Op& op) {
      if (const auto* extend = std::get_if<op::Extend>(&op)) {
        Pos tokens = 0;
        for (const Piece& piece : extend->pieces) {
          tokens += piece.range.size();
        }
        most = std::max(most, tokens);
      }
    };
    EXPECT_FALSE(run(options, some()).verdict);
    return most;
  };
  EXPECT_LE(longest(), 256);
  options.serving.features.chunked_prefill = false;
  EXPECT_GT(longest(), 1000);
}

TEST(Features, SpeculatedTokensAreRejected) {
  SimulationOptions options = options_on("layout=paged page=16 full=1024p");
  options.serving.speculate = 5;
  EXPECT_GT(run(options, some()).counts.rejected_tokens, 0);
  EXPECT_GT(words_of(options, some())[OpWord::trim], 0U);
  EXPECT_EQ(words_of(options, some())[OpWord::decode], 0U);
}

TEST(Features, ARunningRequestIsRetractedWhenNothingElseHelps) {
  SimulationOptions options = options_on("layout=paged page=16 full=200p");
  SyntheticWorkload workload = some();
  workload.output_tokens = 400;
  workload.input_tokens = 200;
  const SimulationResult result = run(options, workload);
  EXPECT_GT(result.counts.retracted, 0U);
  EXPECT_EQ(result.counts.served + result.counts.aborted + result.counts.rejected, 300U);
}

TEST(Features, WhatCanNeverFitIsGivenUp) {
  SimulationOptions options = options_on("layout=hybrid page=16 full=32p swa=16p window=64 reqs=4");
  const SimulationResult result = run(options, some());
  EXPECT_FALSE(result.verdict) << verdict_text(result);
  EXPECT_GT(result.counts.rejected, 100U);
  EXPECT_GT(result.counts.served, 0U);
}

TEST(Features, ALotOfThemAreDrawn) {
  std::set<std::string> sets;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    RandomChoices choices(seed, 3);
    const ServingFeatures drawn = draw_features(choices);
    EXPECT_TRUE(drawn.window_rewrite);
    std::string set;
    for (const FeatureInfo& feature : serving_features()) {
      set += drawn.*feature.flag ? '1' : '0';
    }
    sets.insert(set);
  }
  EXPECT_GT(sets.size(), 40U);
}

/// A number that changes with each byte.
std::uint64_t digest(const std::string& text) {
  std::uint64_t sum = 1469598103934665603U;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return sum;
}

// The numbers are the same whatever compiler and optimisation made this test: every preset runs it.
TEST(SameSeed, MakesTheSameTraceOnEveryCompiler) {
  const std::map<std::string, std::uint64_t> known{
      {"layout=token full=8192 reqs=16", 9584884585707593366U},
      {"layout=hybrid page=16 full=512p swa=160p window=64 reqs=16 need_sort=1", 18201315651213021984U},
      {"layout=hybrid page=256 full=64p swa=64p ring=256 window=128 reqs=4 need_sort=1", 14028795728215323337U},
  };
  for (const auto& [pool, expected] : known) {
    SimulationOptions options = options_on(pool, 7);
    RandomChoices choices(7, 1);
    options.serving = draw_serving(options.serving, choices);
    const std::string text = print_trace(simulated_trace(options.serving, synthetic_requests(crowd(), 7), 20'000));
    EXPECT_EQ(digest(text), expected) << pool;
  }
}

TEST(SameSeed, OfAnotherSeedItIsAnother) {
  SimulationOptions a = options_on("layout=token full=8192", 1);
  SimulationOptions b = options_on("layout=token full=8192", 2);
  EXPECT_NE(print_trace(simulated_trace(a.serving, synthetic_requests(crowd(), 1), 500)),
            print_trace(simulated_trace(b.serving, synthetic_requests(crowd(), 1), 500)));
}

// ---- ring sizing: the worked examples of docs/simulating.md

SimulationOptions ring_of(Tokens ring, std::uint32_t speculate) {
  SimulationOptions options =
      options_on("layout=hybrid page=16 full=512p swa=16p ring=" + std::to_string(ring) + " window=64 reqs=7");
  options.serving.speculate = speculate;
  options.serving.read_one_in = 1;
  return options;
}

TEST(RingSizing, SpeculationNeedsRowsOfItsOwn) {
  EXPECT_FALSE(run(ring_of(64, 0), some()).verdict);
  const SimulationResult tight = run(ring_of(64, 4), some());
  ASSERT_TRUE(tight.verdict);
  EXPECT_EQ(cause_id(tight.verdict->cause), "C10");
  EXPECT_NE(tight.verdict->what.find("KV_INTACT"), std::string::npos) << tight.verdict->what;
  const SimulationResult short_by_one = run(ring_of(67, 4), some());
  ASSERT_TRUE(short_by_one.verdict);
  EXPECT_EQ(cause_id(short_by_one.verdict->cause), "C10");
  EXPECT_FALSE(run(ring_of(68, 4), some()).verdict);
}

TEST(RingSizing, ACachedPrefixIsNotInTheRing) {
  SimulationOptions options = ring_of(64, 0);
  options.serving.features.window_rewrite = false;
  const SimulationResult result = run(options, some());
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(cause_id(result.verdict->cause), "C2");
  EXPECT_NE(result.verdict->what.find("KV_FRESH"), std::string::npos) << result.verdict->what;
}

// ---- what cannot run

TEST(ServingFault, SaysWhatAndTheRemedy) {
  ServingOptions options;
  options.geometry = pool_of("layout=paged page=16 full=64p");
  EXPECT_EQ(serving_fault(options), std::nullopt);
  ServingOptions bad = options;
  bad.max_running = 0;
  EXPECT_EQ(serving_fault(bad), "0 running requests: take 1 to 2048");
  bad = options;
  bad.chunk_tokens = 15;
  EXPECT_EQ(serving_fault(bad), "chunks of 15 tokens are less than a page of 16; take larger ones");
  bad = options;
  bad.speed_permille = 0;
  EXPECT_EQ(serving_fault(bad), "the speed is zero: nothing would ever arrive");
}

TEST(Serving, EndsWithTheErrorOfItsWorkload) {
  const std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,100,5\nnonsense\n";
  SimulationOptions options = options_on("layout=token full=8192");
  const SimulationResult result = simulate(options, *find_impl("host"), requests_of(text));
  ASSERT_TRUE(result.input_error);
  EXPECT_EQ(result.input_error->line, 3U);
  EXPECT_FALSE(result.verdict);
}

}  // namespace
}  // namespace poolproof
