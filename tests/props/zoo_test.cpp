// The zoo: every planted fault is caught, as what it is said to be, and what survives is called so.

#include "props/zoo/zoo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/trace_text.hpp"
#include "tests/props/trace_folder.hpp"
#include "tests/props/trace_header.hpp"

namespace poolproof {
namespace {

std::vector<const ImplInfo*> all_mutants() {
  std::vector<const ImplInfo*> mutants;
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant) {
      mutants.push_back(&impl);
    }
  }
  return mutants;
}

std::vector<ZooTrace> regressions() {
  std::vector<ZooTrace> corpus;
  for (const std::string& file : traces_in("fuzz/regressions")) {
    const std::string mutant = trace_header(file_text(file), "mutant");
    const auto trace = load_trace(file);
    if (!mutant.empty() && trace) {
      corpus.push_back({file, mutant, *trace});
    }
  }
  return corpus;
}

ZooOptions on(std::vector<const ImplInfo*> impls) {
  ZooOptions options;
  options.impls = std::move(impls);
  options.seeds = 1;
  return options;
}

TEST(Zoo, EveryFaultIsCaughtByCheckAsWhatItIs) {
  ZooOptions options = on(all_mutants());
  options.seeds = 3;
  options.corpus = regressions();
  const std::vector<ZooRow> rows = run_zoo(options);
  ASSERT_GE(rows.size(), 60U);
  std::size_t simulated = 0;
  for (const ZooRow& row : rows) {
    const ZooCell& check = row.cell(ZooEngine::check);
    EXPECT_EQ(check.runs, 3U) << row.impl->name;
    EXPECT_EQ(check.caught, 3U) << row.impl->name;
    EXPECT_TRUE(row.unexpected.empty()) << row.impl->name << ": " << row.unexpected.front();
    EXPECT_LE(row.shrunk_ops, 8U) << row.impl->name;
    const ZooCell& corpus = row.cell(ZooEngine::corpus);
    EXPECT_GE(corpus.runs, 1U) << row.impl->name << " has no trace in fuzz/regressions";
    EXPECT_EQ(corpus.caught, corpus.runs) << row.impl->name;
    simulated += row.cell(ZooEngine::simulate).caught > 0 ? 1U : 0U;
  }
  EXPECT_GE(simulated, 25U);
}

TEST(Zoo, WhatIsRightSurvives) {
  const std::vector<ZooRow> rows = run_zoo(on({find_impl("host")}));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].caught());
  EXPECT_EQ(rows[0].cell(ZooEngine::check).runs, 1U);
  EXPECT_EQ(rows[0].cell(ZooEngine::simulate).runs, 1U);
  EXPECT_EQ(rows[0].cell(ZooEngine::corpus).runs, 0U);
}

TEST(Zoo, OnlyEnginesThatWereAskedForRun) {
  ZooOptions options = on({find_impl("B46")});
  options.engines = {ZooEngine::simulate};
  const ZooRow row = run_zoo(options).at(0);
  EXPECT_EQ(row.cell(ZooEngine::check).runs, 0U);
  EXPECT_EQ(row.cell(ZooEngine::simulate).runs, 1U);
}

TEST(Zoo, PoolsThatNoEngineRunsOnAreNoRuns) {
  ZooOptions options = on({find_impl("B85")});
  options.engines = {ZooEngine::simulate};
  EXPECT_EQ(run_zoo(options).at(0).cell(ZooEngine::simulate).runs, 0U);
}

TEST(Zoo, ACauseThatAFaultIsNotSaidToBreakIsTold) {
  ImplInfo mislabelled = *find_impl("kv-pair-swapped");
  mislabelled.caught_by = {Invariant::tail_entry};
  ZooOptions options = on({&mislabelled});
  options.engines = {ZooEngine::check};
  const ZooRow row = run_zoo(options).at(0);
  ASSERT_EQ(row.unexpected.size(), 1U);
  EXPECT_EQ(row.unexpected[0], "KV_INTACT (check, seed 1)");
}

TEST(Zoo, IsTheSameOnEveryRunButForTime) {
  const auto run = [] {
    ZooOptions options = on({find_impl("B20"), find_impl("B46"), find_impl("saver-moves")});
    options.seeds = 3;
    return run_zoo(options);
  };
  const std::vector<ZooRow> first = run();
  const std::vector<ZooRow> second = run();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].shrunk_ops, second[i].shrunk_ops);
    for (std::size_t engine = 0; engine < zoo_engine_count; ++engine) {
      EXPECT_EQ(first[i].cells.at(engine).ops, second[i].cells.at(engine).ops);
      EXPECT_EQ(first[i].cells.at(engine).cause, second[i].cells.at(engine).cause);
    }
  }
}

TEST(Zoo, TheExplorerIsHandedInAndMeasuresShrinking) {
  ZooOptions options = on({find_impl("B20")});
  options.engines = {ZooEngine::check, ZooEngine::explorer};
  EXPECT_EQ(run_zoo(options).at(0).cell(ZooEngine::explorer).runs, 0U);
  EXPECT_EQ(run_zoo(options).at(0).above_optimum(), std::nullopt);
  options.shortest = [](const ImplInfo&) {
    Verdict verdict;
    verdict.cause = Invariant::tail_entry;
    return ZooShortest{4, verdict, 2};
  };
  const ZooRow row = run_zoo(options).at(0);
  EXPECT_EQ(row.cell(ZooEngine::explorer).runs, 1U);
  EXPECT_EQ(row.cell(ZooEngine::explorer).ops, 2U);
  EXPECT_EQ(row.above_optimum(), static_cast<std::int64_t>(row.shrunk_ops) - 2);
  ASSERT_EQ(row.unexpected.size(), 1U);
  EXPECT_EQ(row.unexpected[0], "TAIL_ENTRY (explorer, the shortest trace)");
}

TEST(Zoo, StopsBetweenRuns) {
  ZooOptions options = on(all_mutants());
  int asked = 0;
  options.stop = [&] { return ++asked > 40; };
  EXPECT_LT(run_zoo(options).size(), options.impls.size());
}

TEST(Zoo, EnginesHaveNames) {
  for (const ZooEngine engine : {ZooEngine::check, ZooEngine::simulate, ZooEngine::corpus, ZooEngine::explorer}) {
    EXPECT_EQ(zoo_engine_from(zoo_engine_name(engine)), engine);
  }
  EXPECT_EQ(zoo_engine_from("exploration"), std::nullopt);
}

}  // namespace
}  // namespace poolproof
