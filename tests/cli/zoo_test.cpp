// `poolproof zoo`: the matrix, its files, its exit statuses and what it says of bad usage.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string corpus = std::string(POOLPROOF_SOURCE_DIR) + "/fuzz/regressions";

/// Times differ from run to run, and with them the width of their column.
std::string timeless(const std::string& text) {
  const std::string no_times = std::regex_replace(text, std::regex("[0-9.]+ (us|ms|s)( *)(\\||\n|  )"), "TIME$3");
  return std::regex_replace(no_times, std::regex(" {2,}"), "  ");
}

TEST(CliZoo, ShowsWhatCaughtEachFault) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"zoo", "--impl", "B20", "--impl", "B94", "--impl", "saver-moves", "--seeds", "3",
                                      "--corpus", corpus, "--json", "zoo.json", "--markdown", "zoo.md"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  expect_golden("zoo.txt", timeless(run.out));
  expect_golden("zoo.md", timeless(sandbox.read("zoo.md")));
  const Json json = Json::parse(sandbox.read("zoo.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["seeds"], 3);
  EXPECT_EQ(json["survivors"], 0);
  ASSERT_EQ(json["faults"].size(), 3U);
  const Json& b20 = json["faults"][0];
  EXPECT_EQ(b20["name"], "B20");
  EXPECT_EQ(b20["expected"][0], "GROUP_OWNERSHIP");
  EXPECT_EQ(b20["check"]["caught"], 3);
  EXPECT_EQ(b20["corpus"]["cause"], "GROUP_OWNERSHIP");
  EXPECT_GT(b20["check"]["ops_median"].get<int>(), 0);
  EXPECT_TRUE(json["faults"][1]["simulate"].is_object());
  EXPECT_TRUE(json["faults"][2]["simulate"].is_null());
}

TEST(CliZoo, AFaultThatSurvivesIsAViolation) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"zoo", "--impl", "B22", "--traces", "1", "--seeds", "1", "--engine", "check"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("survives"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("0 of 1 faults caught: check 0"), std::string::npos) << run.out;
}

TEST(CliZoo, BadUsageIsSaidWithItsRemedy) {
  const Sandbox sandbox;
  const auto complaint = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "zoo");
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 2) << run.out;
    return run.err;
  };
  EXPECT_NE(complaint({"--impl", "host"}).find("--impl host: it is no planted fault"), std::string::npos);
  EXPECT_NE(complaint({"--engine", "corpus"}).find("name their folder by --corpus DIR"), std::string::npos);
  EXPECT_NE(complaint({"--corpus", "nowhere"}).find("--corpus nowhere: there is no such folder"), std::string::npos);
  EXPECT_NE(complaint({"--seeds", "0"}).find("--seeds"), std::string::npos);
  EXPECT_NE(complaint({"--impl", "B2O"}).find("did you mean"), std::string::npos);
  sandbox.write("bad.trace", "poolproof 1\n# mutant: B20\npool layout=paged\n");
  EXPECT_NE(complaint({"--corpus", "."}).find("bad.trace:3:"), std::string::npos);
}

}  // namespace
}  // namespace poolproof
