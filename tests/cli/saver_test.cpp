// `poolproof saver`: the table, the figures as JSON, its exit statuses and what it says of bad usage.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "cli/size_text.hpp"
#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

/// Times differ from run to run.
std::string timeless(const std::string& text) { return std::regex_replace(text, std::regex("[0-9.]+ ms"), "N ms"); }

ProgramRun saver(const Sandbox& sandbox, std::vector<std::string> args) {
  args.insert(args.begin(), {"saver", "--preset", "small"});
  return sandbox.run(args);
}

TEST(CliSaver, EverythingIsFreed) {
  const Sandbox sandbox;
  const ProgramRun run = saver(sandbox, {"--impl", "saver", "--expect-freed", "all", "--engine"});
  EXPECT_EQ(run.status, 0) << run.err;
  expect_golden("saver-freed.txt", timeless(run.out));
}

TEST(CliSaver, WhatStaysResidentIsToldAndJudgedWhenAsked) {
  const Sandbox sandbox;
  const std::vector<std::string> args{"--impl", "saver-index-outside", "--pool", "dsa-swa"};
  const ProgramRun told = saver(sandbox, args);
  EXPECT_EQ(told.status, 0);
  expect_golden("saver-resident.txt", timeless(told.out));
  std::vector<std::string> judged = args;
  judged.insert(judged.end(), {"--expect-freed", "all"});
  const ProgramRun run = saver(sandbox, judged);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("everything is expected to be freed: VIOLATED"), std::string::npos) << run.out;
}

TEST(CliSaver, TheTreesSideBySide) {
  const Sandbox sandbox;
  const ProgramRun run = saver(sandbox, {"--impl", "saver-no-flag", "--impl", "saver-mha-alone", "--impl",
                                         "saver-index-outside", "--impl", "saver"});
  EXPECT_EQ(run.status, 0);
  const std::size_t at = run.out.find("freed by a pause");
  ASSERT_NE(at, std::string::npos);
  expect_golden("saver-trees.txt", run.out.substr(at));
}

TEST(CliSaver, FaultsOfTheSaverAreViolations) {
  const Sandbox sandbox;
  for (const char* impl : {"saver-moves", "saver-resume-dirty", "saver-keeps-handle", "saver-destroy-leaks"}) {
    const ProgramRun run = saver(sandbox, {"--impl", impl, "--pool", "mla"});
    EXPECT_EQ(run.status, 1) << impl;
    EXPECT_NE(run.out.find("  VIOLATED: "), std::string::npos) << run.out;
  }
}

TEST(CliSaver, AnEngineWhosePoolsStayIsToldSo) {
  const Sandbox sandbox;
  const ProgramRun run =
      saver(sandbox, {"--impl", "saver-no-flag", "--pool", "mha-swa", "--engine", "--weights", "10MiB"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("only the weights are pausable: resuming them alone took all 10.00 MiB back"),
            std::string::npos)
      << run.out;
}

TEST(CliSaver, ReadingsOfARealEngineAreExplained) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"saver", "--reading", "85.3,32.9,85.3"});
  EXPECT_EQ(run.status, 0);
  expect_golden("saver-reading.txt", run.out);
  EXPECT_EQ(sandbox.run({"saver", "--reading", "85.3,32.9,85.3", "--expect-freed", "all"}).status, 1);
  EXPECT_EQ(sandbox.run({"saver", "--reading", "85.3,12GiB,64", "--expect-freed", "all"}).status, 0);
}

TEST(CliSaver, CyclesLeaveNothingBehind) {
  const Sandbox sandbox;
  const ProgramRun run = saver(sandbox, {"--impl", "saver", "--pool", "mla", "--cycles", "30", "--seed", "7"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(std::regex_search(run.out, std::regex("mla  [0-9]+ cycles of pause and resume in [0-9]+ traces")))
      << run.out;
  EXPECT_NE(run.out.find("used before 0, after 0 (the same byte count)"), std::string::npos) << run.out;
  const ProgramRun wrong = saver(sandbox, {"--impl", "saver-takes-all-tags", "--pool", "mla", "--cycles", "30"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.out.find("VIOLATED: SAVER_TAGGED at op "), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("shrunk and explained by: poolproof check --impl saver-takes-all-tags\n"), std::string::npos)
      << wrong.out;
}

TEST(CliSaver, TheFiguresAsJson) {
  const Sandbox sandbox;
  const ProgramRun run =
      saver(sandbox, {"--impl", "saver", "--pool", "dsa-swa", "--engine", "--cycles", "3", "--json", "-"});
  EXPECT_EQ(run.status, 0);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "saver");
  const Json& impl = json["impls"][0];
  EXPECT_EQ(impl["impl"], "saver");
  EXPECT_EQ(impl["holds"], true);
  const Json& pool = impl["pools"][0];
  EXPECT_EQ(pool["name"], "dsa-swa");
  EXPECT_EQ(pool["rows"].size(), 3U);
  EXPECT_EQ(pool["rows"][1]["part"], "index_k");
  EXPECT_EQ(pool["rows"][1]["tag"], "kv_cache");
  EXPECT_EQ(pool["freed_bytes"], pool["taken_bytes"]);
  EXPECT_EQ(pool["resident_bytes"], 0);
  EXPECT_EQ(impl["engines"][0]["pools_pausable"], true);
  EXPECT_GE(impl["cycles"][0]["cycles"].get<int>(), 3);
  EXPECT_EQ(json["status"], 0);
  // People's text makes room.
  EXPECT_NE(run.err.find("saver on host memory"), std::string::npos);
}

TEST(CliSaver, GeometryChangesEachPool) {
  const Sandbox sandbox;
  const ProgramRun run =
      saver(sandbox, {"--impl", "saver", "--pool", "mha", "--geometry", "full=2p,heads=2,dtype=fp8,saver=off"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("mha  layout=paged page=64 full=2p reqs=64 kv=mha full_layers=1 heads=2 dtype=fp8 saver=off"),
            std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("nothing touched"), std::string::npos);
}

TEST(CliSaver, BadUsageIsSaidWithItsRemedy) {
  const Sandbox sandbox;
  const auto complaint = [&](const std::vector<std::string>& args, int status = 2) {
    const ProgramRun run = saver(sandbox, args);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_NE(complaint({"--impl", "host"}).find("no implementation that builds memory is named 'host'"),
            std::string::npos);
  EXPECT_NE(complaint({"--impl", "saver-move"}).find("did you mean 'saver-moves'?"), std::string::npos);
  EXPECT_NE(complaint({"--pool", "mha-swaa"}).find("did you mean 'mha-swa'?"), std::string::npos);
  EXPECT_NE(complaint({"--impl", "saver", "--geometry", "full=3"}).find("is not a multiple of page=64"),
            std::string::npos);
  EXPECT_NE(complaint({"--impl", "saver", "--geometry", "fulll=3"}).find("did you mean 'full'?"), std::string::npos);
  EXPECT_NE(complaint({"--impl", "saver", "--engine", "--weights", "many"}).find("--weights many: give a size such as"),
            std::string::npos);
  for (const char* reading : {"1,2", "1,2,3,4", "a,b,c", "", "1,,2"}) {
    EXPECT_NE(complaint({"--reading", reading}).find("give three figures in GiB"), std::string::npos) << reading;
  }
  EXPECT_NE(
      complaint({"--impl", "saver", "--weights", "500000GiB", "--engine", "--pool", "mla"}, 3).find("out of memory"),
      std::string::npos);
}

TEST(CliSaver, CheckTakesPoolsWithMemoryByNameAndByKeys) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--impl", "saver", "--geometry", "dsa-swa", "--traces", "30"}).status, 0);
  const ProgramRun pinned = sandbox.run(
      {"check", "--impl", "saver", "--geometry", "layout=paged,page=4,full=8p,kv=mha,weights=5000", "--traces", "30"});
  EXPECT_EQ(pinned.status, 0) << pinned.out << pinned.err;
  const ProgramRun isolated = sandbox.run({"check", "--impl", "saver", "--isolate", "always", "--traces", "3"});
  EXPECT_EQ(isolated.status, 2);
  EXPECT_NE(isolated.err.find("--isolate always: saver builds the memory of its pools"), std::string::npos)
      << isolated.err;
}

TEST(SizeText, ReadsWhatPeopleWrite) {
  using cli::parse_size;
  EXPECT_EQ(parse_size("4096", 1), 4096);
  EXPECT_EQ(parse_size("1.5", std::int64_t{1} << 30), std::int64_t{3} << 29);
  EXPECT_EQ(parse_size("100MiB", 1), 100 << 20);
  EXPECT_EQ(parse_size("4KiB", 1 << 30), 4096);
  EXPECT_EQ(parse_size("52.4GiB", 1), 56264071578);
  for (const char* bad : {"", "GiB", "-1", "1e3", "nan", "inf", "1 GiB", "12GB", "1048577GiB"}) {
    EXPECT_EQ(parse_size(bad, 1), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace poolproof
