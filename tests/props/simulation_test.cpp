// Whole simulations: real workloads through each kind of pool, known bugs caught by them, what the timeline says.
#include "props/workload/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "props/shrink.hpp"
#include "props/workload/presets.hpp"
#include "tests/props/workload_runs.hpp"

namespace poolproof {
namespace {

#if defined(POOLPROOF_SANITIZED)
constexpr std::uint64_t most_requests = 150;
#else
constexpr std::uint64_t most_requests = 2000;
#endif

SimulationOptions small(const std::string& pool, std::uint64_t requests) {
  SimulationOptions options;
  options.serving.geometry = pool_of(pool);
  options.serving.requests = requests;
  options.serving.speed_permille = 20'000;
  return options;
}

struct RealRun {
  std::string file;
  std::string pool;
};

class RealWorkloads : public testing::TestWithParam<RealRun> {};

TEST_P(RealWorkloads, Hold) {
  const std::optional<std::string> text = real_workload(GetParam().file);
  if (!text) {
    GTEST_SKIP() << "the workload " << GetParam().file << " is not beside the project, in ../shared/data";
  }
  const SimulationResult result =
      simulate(small(GetParam().pool, most_requests), *find_impl("host"), requests_of(*text));
  EXPECT_FALSE(result.verdict) << verdict_text(result);
  EXPECT_FALSE(result.input_error);
  EXPECT_EQ(result.counts.arrived, most_requests);
  EXPECT_EQ(result.counts.served + result.counts.aborted + result.counts.rejected, most_requests);
  EXPECT_GT(result.counts.served, most_requests / 2);
}

const std::string azure = "AzureLLMInferenceTrace_conv.csv";
const std::string mooncake = "mooncake_conversation_trace.jsonl";

INSTANTIATE_TEST_SUITE_P(
    Pools, RealWorkloads,
    testing::Values(RealRun{azure, "layout=hybrid page=16 full=2048p swa=512p window=128 reqs=64"},
                    RealRun{azure, "layout=hybrid page=16 full=2048p swa=64p window=128 ring=128 reqs=64"},
                    RealRun{azure, "layout=token full=32768"},
                    RealRun{mooncake, "layout=hybrid page=256 full=1024p swa=256p window=128 reqs=64"},
                    RealRun{mooncake, "layout=hybrid page=256 full=1024p swa=64p window=128 ring=128 reqs=64"},
                    RealRun{mooncake, "layout=paged page=64 full=4096p need_sort=1"}));

struct CaughtBug {
  std::string mutant;
  std::string pool;
  std::uint32_t speculate = 0;
  bool tails = false;
};

class KnownBugs : public testing::TestWithParam<CaughtBug> {};

TEST_P(KnownBugs, AreCaughtByARealWorkload) {
  const std::optional<std::string> text = real_workload(azure);
  if (!text) {
    GTEST_SKIP() << "the workload " << azure << " is not beside the project, in ../shared/data";
  }
  SimulationOptions options = small(GetParam().pool, 600);
  options.serving.speculate = GetParam().speculate;
  options.serving.features.tails = GetParam().tails;
  options.serving.features.segments = GetParam().speculate == 0;
  const ImplInfo& impl = *find_impl(GetParam().mutant);
  ASSERT_TRUE(impl.supports(options.serving.geometry));
  const SimulationResult result = simulate(options, impl, requests_of(*text));
  ASSERT_TRUE(result.verdict);
  EXPECT_TRUE(result.verdict->allocator_fault()) << verdict_text(result);
  EXPECT_FALSE(simulate(options, *find_impl("host"), requests_of(*text)).verdict);

  const Trace trace = simulated_trace(options.serving, requests_of(*text), result.ops);
  const RunResult pinned = run_and_pin(trace, impl);
  ASSERT_TRUE(pinned.verdict);
  const std::optional<ShrinkResult> shrunk = shrink(trace, impl, pinned.verdict->cause);
  ASSERT_TRUE(shrunk);
  EXPECT_LE(shrunk->trace.ops.size(), 12U);
}

const std::string paired = "layout=hybrid page=16 full=512p swa=160p window=64 reqs=16";
const std::string tight = "layout=hybrid page=16 full=512p swa=100p window=64 reqs=16";
const std::string ringed = "layout=hybrid page=16 full=512p swa=512p ring=64 window=64 reqs=16";

INSTANTIATE_TEST_SUITE_P(Azure, KnownBugs,
                         testing::Values(CaughtBug{"B01", paired, 3}, CaughtBug{"B04", paired, 3, true},
                                         CaughtBug{"B08", paired}, CaughtBug{"B15-free-swa", ringed},
                                         CaughtBug{"B15-group-end", ringed}, CaughtBug{"B15-no-clear", ringed},
                                         CaughtBug{"B20", paired}, CaughtBug{"B30", tight}, CaughtBug{"B46", paired}),
                         [](const auto& info) {
                           std::string name = info.param.mutant;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// ---- the timeline

TEST(PoolTimeline, KindsMakeUpTheSize) {
  SimulationOptions options = small("layout=hybrid page=16 full=512p swa=160p window=64 reqs=16 need_sort=1", 0);
  SyntheticWorkload workload;
  workload.requests = 300;
  workload.gap_us = 2000;
  const SimulationResult result = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
  ASSERT_FALSE(result.verdict) << verdict_text(result);
  const std::vector<PoolCourse>& pools = result.timeline.pools();
  ASSERT_EQ(pools.size(), 3U);
  EXPECT_EQ(pools[0].name, "full pool");
  EXPECT_EQ(pools[1].name, "SWA pool");
  EXPECT_EQ(pools[2].name, "request slots");
  std::int64_t staged = 0;
  std::int64_t deferred = 0;
  std::int64_t tombstones = 0;
  for (const PoolCourse& pool : pools) {
    ASSERT_EQ(pool.uses.size(), result.timeline.moments().size());
    std::int64_t most = 0;
    for (const PoolUse& use : pool.uses) {
      EXPECT_EQ(use.free + use.staged.value_or(0) + use.deferred + use.lent + use.tombstone, pool.size);
      EXPECT_GE(use.free, 0);
      EXPECT_GE(use.lent, 0);
      staged += use.staged.value_or(0);
      deferred += use.deferred;
      tombstones += use.tombstone;
      most = std::max(most, use.lent + use.tombstone);
    }
    EXPECT_LE(pool.mean, pool.peak);
    EXPECT_LE(most, pool.size);
    EXPECT_GT(pool.mean, 0);
  }
  EXPECT_GT(staged, 0);
  EXPECT_GT(deferred, 0);
  EXPECT_GT(tombstones, 0);
  EXPECT_GT(result.timeline.peak_fragmentation_percent(), 0);
  EXPECT_LE(result.timeline.mean_fragmentation_percent(), result.timeline.peak_fragmentation_percent());
}

TEST(PoolTimeline, ALongRunIsThinned) {
  SimulationOptions options = small("layout=token full=8192", 0);
  options.serving.speed_permille = 1000;
  SyntheticWorkload workload;
  workload.requests = 400;
  workload.input_tokens = 50;
  workload.output_tokens = 30;
  const SimulationResult result = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
  EXPECT_GT(result.counts.steps, 4000U);
  const auto& moments = result.timeline.moments();
  EXPECT_LE(moments.size(), 2000U);
  EXPECT_GT(moments.size(), 900U);
  for (std::size_t i = 1; i < moments.size(); ++i) {
    EXPECT_LT(moments[i - 1].time_us, moments[i].time_us);
  }
}

TEST(Simulation, IsTheSameTwice) {
  SimulationOptions options = small(paired, 0);
  SyntheticWorkload workload;
  workload.requests = 100;
  const SimulationResult a = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
  const SimulationResult b = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
  EXPECT_EQ(a.ops, b.ops);
  EXPECT_EQ(a.end_us, b.end_us);
  EXPECT_EQ(a.events.size(), b.events.size());
}

TEST(Simulation, ItsTraceIsTheOneThatWasRun) {
  SimulationOptions options = small(paired, 0);
  SyntheticWorkload workload;
  workload.requests = 50;
  Trace made{options.serving.geometry, {}, {}};
  options.record = [&](const Op& op) { made.ops.push_back(op); };
  const SimulationResult result = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
  EXPECT_EQ(made.ops.size(), result.ops);
  EXPECT_EQ(print_trace(simulated_trace(options.serving, synthetic_requests(workload, 1), result.ops)),
            print_trace(made));
}

TEST(ModelPresets, AreSoundAndRun) {
  SyntheticWorkload workload;
  workload.requests = 3;
  for (const ModelPreset& preset : model_presets()) {
    EXPECT_EQ(geometry_fault(preset.geometry), std::nullopt) << preset.name;
    SimulationOptions options;
    options.serving.geometry = preset.geometry;
    options.census_every = 0;
    const SimulationResult result = simulate(options, *find_impl("host"), synthetic_requests(workload, 1));
    EXPECT_FALSE(result.verdict) << preset.name << ": " << verdict_text(result);
    EXPECT_EQ(result.counts.served + result.counts.aborted, 3U) << preset.name;
  }
}

TEST(ModelPresets, AreInTheirPage) {
  std::ifstream in(std::string(POOLPROOF_SOURCE_DIR) + "/docs/models.md");
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const ModelPreset& preset : model_presets()) {
    std::string full = std::to_string(preset.geometry.full);
    for (std::size_t at = full.size(); at > 3;) {
      at -= 3;
      full.insert(at, ",");
    }
    const std::size_t row = page.find("| `" + std::string(preset.name) + "` |");
    ASSERT_NE(row, std::string::npos) << preset.name;
    EXPECT_NE(page.substr(row, page.find('\n', row) - row).find("| " + full + " |"), std::string::npos) << preset.name;
  }
}

// ---- shrinking what is long

TEST(LongTraces, AreShrunkToAFewOps) {
  SimulationOptions options = small("layout=hybrid page=16 full=2048p swa=512p window=128 ring=128 reqs=64", 0);
  SyntheticWorkload workload;
  workload.requests = most_requests / 3;
  workload.gap_us = 4000;
  const ImplInfo& impl = *find_impl("estimate-refuses");
  const SimulationResult result = simulate(options, impl, synthetic_requests(workload, 1));
  ASSERT_TRUE(result.verdict);
  const Trace trace = simulated_trace(options.serving, synthetic_requests(workload, 1), result.ops);
  EXPECT_GT(trace.ops.size(), long_trace_ops);
  const std::optional<ShrinkResult> a = shrink(trace, impl, result.verdict->cause);
  const std::optional<ShrinkResult> b = shrink(trace, impl, result.verdict->cause);
  ASSERT_TRUE(a && b);
  EXPECT_LE(a->trace.ops.size(), 12U);
  EXPECT_EQ(print_trace(a->trace), print_trace(b->trace));
  EXPECT_EQ(a->evaluations, b->evaluations);
}

}  // namespace
}  // namespace poolproof
