// The memory saver on a GPU: random traces hold, every planted fault is caught as on the host, and what the driver
// counts moves by whole granules.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "impl/cuda/cuda.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "props/saver/saver_cycles.hpp"
#include "props/saver/saver_pools.hpp"
#include "props/saver/saver_reading.hpp"

namespace poolproof {
namespace {

class SaverOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = cuda_missing()) {
      GTEST_SKIP() << "skipped: " << *missing;
    }
  }
};

TEST_F(SaverOnGpu, RandomTracesHold) {
  CampaignOptions options;
  options.impls = {find_impl("cuda-saver")};
  options.traces = 300;
  const CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.canary_caught) << report.canary_says;
  const ImplOutcome& outcome = report.outcomes.at(0);
  EXPECT_EQ(outcome.could_not_run, "");
  EXPECT_EQ(outcome.traces, 300U);
  EXPECT_FALSE(outcome.finding) << outcome.finding->shrunk.verdict.what << '\n'
                                << print_trace(outcome.finding->shrunk.trace);
}

TEST_F(SaverOnGpu, EveryMutantIsCaughtAndShrinksToSixOps) {
  std::size_t mutants = 0;
  for (const ImplInfo& impl : device_mutant_impls()) {
    if (!impl.memory) {
      continue;
    }
    ++mutants;
    CampaignOptions options;
    options.impls = {&impl};
    options.traces = 3000;
    const CampaignReport report = run_campaign(options);
    const ImplOutcome& outcome = report.outcomes.at(0);
    ASSERT_TRUE(outcome.finding) << impl.name << " survives " << outcome.could_not_run;
    const ShrinkResult& shrunk = outcome.finding->shrunk;
    const auto* broken = std::get_if<Invariant>(&shrunk.verdict.cause);
    ASSERT_NE(broken, nullptr) << impl.name << ": " << shrunk.verdict.what;
    EXPECT_NE(std::find(impl.caught_by.begin(), impl.caught_by.end(), *broken), impl.caught_by.end())
        << impl.name << " is not said to break " << invariant_info(*broken).id;
    EXPECT_LE(shrunk.trace.ops.size(), 6U) << impl.name << '\n' << print_trace(shrunk.trace);
  }
  EXPECT_GE(mutants, 19U);
}

TEST_F(SaverOnGpu, CyclesGiveTheDeviceItsBytesBack) {
  const auto target = open_saver("cuda-saver");
  ASSERT_TRUE(target && target->ok());
  const auto& [parts, memory] = **target;
  for (const NamedGeometry& pool : saver_pools(SaverPreset::tiny)) {
    Geometry g = pool.geometry;
    g.kv.weights_bytes = 3'000'001;
    const SaverCycles cycles =
        run_saver_cycles(saver_on("cuda-saver", memory, parts), *memory, g, 40, 1, [] { return false; });
    EXPECT_GE(cycles.cycles, 40U);
    EXPECT_FALSE(cycles.verdict) << pool.name << ": " << cycles.verdict->what;
    EXPECT_FALSE(cycles.leaked()) << pool.name;
  }
}

TEST_F(SaverOnGpu, PoolsAreFreedByTheDriversCount) {
  const auto target = open_saver("cuda-saver");
  ASSERT_TRUE(target && target->ok());
  const auto& [parts, memory] = **target;
  for (const NamedGeometry& pool : saver_pools(SaverPreset::small)) {
    const auto reading = read_saver(pool, memory, parts);
    ASSERT_TRUE(reading.ok()) << reading.error();
    EXPECT_TRUE(reading->holds()) << pool.name << ": " << reading->faults.front();
    EXPECT_EQ(reading->resident_bytes(), 0) << pool.name;
    EXPECT_EQ(reading->freed_bytes % memory->granule_bytes(), 0);
  }
}

}  // namespace
}  // namespace poolproof
