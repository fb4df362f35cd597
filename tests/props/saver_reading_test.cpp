// Whole pools through a memory saver: what each builder's wiring frees, what the three points of an engine say, and
// that cycles leave nothing behind.

#include "props/saver/saver_reading.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "impl/saver/host_memory.hpp"
#include "props/saver/saver_cycles.hpp"
#include "props/saver/saver_pools.hpp"

namespace poolproof {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

NamedGeometry pool_named(const std::string& name, SaverPreset preset = SaverPreset::small) {
  for (const NamedGeometry& pool : saver_pools(preset)) {
    if (pool.name == name) {
      return pool;
    }
  }
  ADD_FAILURE() << name;
  return {};
}

SaverReading reading_of(const std::string& impl, NamedGeometry pool) {
  const auto target = open_saver(impl);
  EXPECT_TRUE(target.has_value() && target->ok()) << impl;
  auto reading = read_saver(pool, (*target)->memory, (*target)->parts);
  EXPECT_TRUE(reading.ok()) << reading.error();
  return reading.ok() ? *reading : SaverReading{};
}

std::int64_t planned_granules(const Geometry& g, std::int64_t granule) {
  std::int64_t total = 0;
  for (const BufferPlan& buffer : planned_buffers(g)) {
    total += whole_granules(buffer.bytes(), granule);
  }
  return total;
}

TEST(SaverReading, EveryPoolIsFreedAndComesBack) {
  for (const NamedGeometry& pool : saver_pools(SaverPreset::small)) {
    const SaverReading reading = reading_of("saver", pool);
    EXPECT_TRUE(reading.holds()) << pool.name << ": " << reading.faults.front();
    const std::int64_t all = planned_granules(pool.geometry, HostMemory().granule_bytes());
    EXPECT_EQ(reading.taken_bytes, all) << pool.name;
    EXPECT_EQ(reading.freed_bytes, all) << pool.name;
    EXPECT_EQ(reading.retaken_bytes, all) << pool.name;
    EXPECT_EQ(reading.returned_bytes, all) << pool.name;
    for (const SaverRow& row : reading.rows) {
      EXPECT_EQ(row.tag, "kv_cache");
      EXPECT_EQ(row.resident_bytes, 0);
    }
  }
}

// The table of the trees: what is freed, by what the builders pass on.
TEST(SaverReading, WhatABuilderForgetsStaysResident) {
  const auto freed = [](const std::string& impl, const std::string& pool) {
    const SaverReading reading = reading_of(impl, pool_named(pool));
    EXPECT_TRUE(reading.holds()) << impl << " " << pool;
    return reading.freed_bytes;
  };
  const std::int64_t page = HostMemory().granule_bytes();
  const std::int64_t mha = planned_granules(pool_named("mha-swa").geometry, page);
  const std::int64_t mla = planned_granules(pool_named("mla-swa").geometry, page);
  const std::int64_t dsa = planned_granules(pool_named("dsa-swa").geometry, page);
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> trees{{"saver-no-flag", {0, 0, 0}},
                                                                             {"saver-mha-alone", {mha, 0, 0}},
                                                                             {"saver-index-outside", {mha, mla, mla}},
                                                                             {"saver", {mha, mla, dsa}}};
  for (const auto& [impl, expected] : trees) {
    EXPECT_EQ(freed(impl, "mha-swa"), expected[0]) << impl;
    EXPECT_EQ(freed(impl, "mla-swa"), expected[1]) << impl;
    EXPECT_EQ(freed(impl, "dsa-swa"), expected[2]) << impl;
  }
  EXPECT_GT(dsa, mla);
}

TEST(SaverReading, RowsTellWhichBuffersStay) {
  const SaverReading reading = reading_of("saver-index-outside", pool_named("dsa-swa"));
  ASSERT_EQ(reading.rows.size(), 3U);
  EXPECT_EQ(reading.rows[1].part, BufferPart::index_k);
  EXPECT_EQ(reading.rows[1].tag, "");
  EXPECT_EQ(reading.rows[1].freed_bytes, 0);
  EXPECT_GE(reading.rows[1].resident_bytes, reading.rows[1].built_bytes);
  EXPECT_EQ(reading.rows[0].resident_bytes, 0);
  EXPECT_EQ(reading.resident_bytes(), reading.rows[1].resident_bytes);
}

TEST(SaverReading, FaultsOfTheSaverAreSaid) {
  const auto fault = [](const std::string& impl) {
    const SaverReading reading = reading_of(impl, pool_named("mla"));
    return reading.holds() ? std::string("holds") : reading.faults.front();
  };
  EXPECT_EQ(fault("saver-moves"), "full.kv.0 moved over the pause");
  EXPECT_EQ(fault("saver-resume-shrinks"), "full.kv.0 changed its size over the pause");
  EXPECT_EQ(fault("saver-resume-dirty"), "full.kv.0 does not read zero after the resume");
  EXPECT_TRUE(fault("saver-keeps-handle").ends_with("bytes, and the device counts 0 less"))
      << fault("saver-keeps-handle");
  EXPECT_TRUE(fault("saver-destroy-leaks").ends_with("bytes did not come back when the pools were destroyed"));
}

TEST(SaverReading, WithTheSaverOffNothingIsTouched) {
  NamedGeometry pool = pool_named("mha-swa");
  pool.geometry.kv.saver = SaverMode::off;
  const SaverReading reading = reading_of("saver", pool);
  EXPECT_TRUE(reading.holds());
  EXPECT_EQ(reading.freed_bytes, 0);
  EXPECT_EQ(reading.rows.front().tag, "");
}

TEST(SaverReading, PoolsThatDoNotFitAreAnErrorThatNamesTheBuffer) {
  const auto small = std::make_shared<HostMemory>(1 << 20);
  const auto reading = read_saver(pool_named("mha"), small, {});
  ASSERT_FALSE(reading.ok());
  EXPECT_TRUE(reading.error().starts_with("mha: allocating full.k.0 (tag 'kv_cache', ")) << reading.error();
  EXPECT_EQ(small->used_bytes(), 0);
}

// ---- the three points

TEST(EngineReading, TheSightOfPoolsThatStayResident) {
  const EngineVerdict verdict = judge_engine({0, 853 * gib / 10, 329 * gib / 10, 853 * gib / 10}, gib / 10);
  EXPECT_TRUE(verdict.weights_pausable);
  EXPECT_FALSE(verdict.pools_pausable);
  EXPECT_TRUE(verdict.what.starts_with("only the weights are pausable: resuming them alone took all 52.40 GiB back"))
      << verdict.what;
}

TEST(EngineReading, EachCaseHasItsWords) {
  const auto what = [](std::int64_t loaded, std::int64_t released, std::int64_t resumed) {
    return judge_engine({0, loaded * gib, released * gib, resumed * gib}, gib / 10).what;
  };
  EXPECT_EQ(what(85, 12, 64), "weights (52.00 GiB) and KV pools (21.00 GiB) are pausable");
  EXPECT_EQ(what(85, 85, 85), "nothing was released: neither weights nor KV pools are in a region");
  EXPECT_EQ(what(85, 64, 64), "only the KV pools are pausable: 21.00 GiB came back, and none of it is the weights'");
  EXPECT_EQ(what(85, 33, 90),
            "resuming the weights took 5.00 GiB more than was released: the readings are not of one engine");
}

TEST(EngineReading, WhatIsReadOfAnEngineIsJudgedRight) {
  Geometry g = pool_named("dsa-swa").geometry;
  g.kv.weights_bytes = 5 << 20;
  const auto judged = [&](const std::string& impl) {
    const auto target = open_saver(impl);
    const auto reading = read_engine(g, (*target)->memory, (*target)->parts);
    EXPECT_TRUE(reading.ok());
    EXPECT_EQ((*target)->memory->used_bytes(), reading->idle_bytes);
    return judge_engine(*reading, (*target)->memory->granule_bytes());
  };
  EXPECT_TRUE(judged("saver").pools_pausable);
  EXPECT_TRUE(judged("saver").weights_pausable);
  EXPECT_FALSE(judged("saver-no-flag").pools_pausable);
  EXPECT_TRUE(judged("saver-no-flag").weights_pausable);
  EXPECT_TRUE(judged("saver-index-outside").pools_pausable);
}

// ---- cycles

TEST(SaverCycles, LeaveTheMemoryAsTheyFoundIt) {
  const auto memory = std::make_shared<HostMemory>();
  for (const char* name : {"mha-swa", "dsa-swa", "mla-ring"}) {
    Geometry g = pool_named(name, SaverPreset::tiny).geometry;
    g.kv.weights_bytes = 100'000;
    const SaverCycles cycles = run_saver_cycles(saver_on("saver", memory, {}), *memory, g, 60, 1, [] { return false; });
    EXPECT_GE(cycles.cycles, 60U);
    EXPECT_FALSE(cycles.verdict) << name << ": " << cycles.verdict->what;
    EXPECT_FALSE(cycles.leaked());
    EXPECT_EQ(cycles.used_before_bytes, 0);
  }
}

TEST(SaverCycles, FindAViolation) {
  const auto target = open_saver("saver-moves");
  const SaverCycles cycles =
      run_saver_cycles(saver_on("saver-moves", (*target)->memory, (*target)->parts), *(*target)->memory,
                       pool_named("mla", SaverPreset::tiny).geometry, 1000, 1, [] { return false; });
  ASSERT_TRUE(cycles.verdict);
  EXPECT_EQ(std::get<Invariant>(cycles.verdict->cause), Invariant::saver_stable);
  EXPECT_LT(cycles.cycles, 1000U);
}

TEST(SaverCycles, StopWhenAsked) {
  const auto memory = std::make_shared<HostMemory>();
  int asked = 0;
  const SaverCycles cycles =
      run_saver_cycles(saver_on("saver", memory, {}), *memory, pool_named("mla", SaverPreset::tiny).geometry, 1'000'000,
                       1, [&] { return ++asked > 3; });
  EXPECT_EQ(cycles.traces, 3U);
}

// ---- names

TEST(OpenSaver, KnowsEachImplementationThatBuildsMemoryAndNoOther) {
  for (const ImplInfo& impl : builtin_impls()) {
    EXPECT_EQ(open_saver(impl.name).has_value(), impl.memory) << impl.name;
  }
  EXPECT_TRUE(open_saver("cuda-saver:B85").has_value());
  EXPECT_FALSE(open_saver("cuda-saver:B20").has_value());
}

TEST(SaverReading, SizesReadWell) {
  EXPECT_EQ(size_text(0), "0");
  EXPECT_EQ(size_text(512), "0.5 KiB");
  EXPECT_EQ(size_text(1 << 20), "1.00 MiB");
  EXPECT_EQ(size_text(gib * 5 / 4), "1.25 GiB");
  EXPECT_EQ(size_text(-gib), "-1.00 GiB");
}

}  // namespace
}  // namespace poolproof
