// `poolproof explore`: findings, certificates, their verification, limits, and what it says of bad usage.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string small = "layout=paged,page=2,full=2p,rows=2,positions=4,batch=1,words=-backup-restore";

/// The figures of speed differ from run to run.
std::string timeless(const std::string& text) {
  return std::regex_replace(text, std::regex(" +[0-9.]+( k| M)?  (holds|[A-Z_]+ violated|out of memory|interrupted)"),
                            "  RATE  $2");
}

TEST(CliExplore, AFindingIsTheShortestTraceThereIs) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"explore", "--impl", "B20", "--scope", "hybrid-tiny", "--json", "found.json"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(run.err, "");
  expect_golden("explore-found.txt", timeless(run.out));
  const Json json = Json::parse(sandbox.read("found.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["status"], 1);
  EXPECT_EQ(json["runs"][0]["end"], "violated");
  EXPECT_EQ(json["runs"][0]["cause"], "GROUP_OWNERSHIP");
  EXPECT_EQ(json["runs"][0]["trace_ops"], 3);
  const std::string trace = json["runs"][0]["trace_file"];
  EXPECT_EQ(sandbox.run({"replay", trace, "--impl", "B20"}).status, 1);
  EXPECT_EQ(sandbox.run({"replay", trace}).status, 0);
}

TEST(CliExplore, WhatHoldsGetsACertificateThatCanBeVerified) {
  const Sandbox sandbox;
  const ProgramRun run =
      sandbox.run({"explore", "--scope", small, "--scope", "token-tiny", "--depth", "6", "--certificates", "certs"});
  EXPECT_EQ(run.status, 0) << run.err;
  expect_golden("explore-holds.txt", timeless(run.out));
  const std::string text = sandbox.read("certs/host-token-tiny.json");
  expect_golden("certificate.json", text);
  EXPECT_EQ(sandbox
                .run({"explore", "--verify", "certs/host-token-tiny.json", "--verify", "certs/host-scope.json",
                      "--threads", "3"})
                .status,
            0);

  sandbox.write("tampered.json", std::regex_replace(text, std::regex("\"transitions\": "), "\"transitions\": 9"));
  const ProgramRun tampered = sandbox.run({"explore", "--verify", "tampered.json"});
  EXPECT_EQ(tampered.status, 1);
  EXPECT_TRUE(std::regex_search(tampered.out,
                                std::regex("tampered.json: transitions: 9[0-9]+ in the certificate, [0-9]+ now\n")))
      << tampered.out;
  EXPECT_NE(tampered.out.find("differs from its certificate"), std::string::npos) << tampered.out;

  const ProgramRun other =
      sandbox.run({"explore", "--verify", "certs/host-token-tiny.json", "--certificates", "again"});
  EXPECT_EQ(other.status, 0);
  EXPECT_EQ(sandbox.read("again/host-token-tiny.json"), text);
}

TEST(CliExplore, ACertificateOfAnotherVersionSaysSoWhereItDiffers) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run({"explore", "--scope", small, "--depth", "2", "--certificates", "certs"}).status, 0);
  const std::string text = std::regex_replace(sandbox.read("certs/host-scope.json"),
                                              std::regex("\"version\": \"[^\"]*\""), "\"version\": \"0.0.9\"");
  sandbox.write("older.json", text);
  EXPECT_EQ(sandbox.run({"explore", "--verify", "older.json"}).status, 0);
  sandbox.write("older.json", std::regex_replace(text, std::regex("\"states\": "), "\"states\": 7"));
  const ProgramRun run = sandbox.run({"explore", "--verify", "older.json"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("older.json: it was written by poolproof 0.0.9, this is "), std::string::npos) << run.out;
}

TEST(CliExplore, AtTheLimitOfMemoryItSaysWhatIsCovered) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"explore", "--scope", "layout=paged,page=2,full=2p,reqs=1,rows=2,positions=4",
                                      "--memory", "1MiB", "--json", "-"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find("out of memory: holds up to "), std::string::npos) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["runs"][0]["end"], "memory");
  EXPECT_EQ(json["runs"][0]["states_by_depth"].size(), json["runs"][0]["depth"].get<std::size_t>() + 1);
}

TEST(CliExplore, ShardsAreTheWholeRun) {
  const Sandbox sandbox;
  const std::vector<std::string> args{"explore", "--scope", small,    "--scope", "token-tiny",
                                      "--depth", "2",       "--json", "-"};
  std::size_t runs = 0;
  for (const std::string shard : {"0/2", "1/2"}) {
    std::vector<std::string> part = args;
    part.insert(part.end(), {"--shard", shard});
    const ProgramRun run = sandbox.run(part);
    EXPECT_EQ(run.status, 0) << run.err;
    runs += Json::parse(run.out)["runs"].size();
  }
  EXPECT_EQ(runs, 2U);
}

TEST(CliExplore, ScopesAreListed) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"explore", "--list"});
  EXPECT_EQ(run.status, 0);
  expect_golden("explore-list.txt", run.out);
}

TEST(CliExplore, BadUsageIsSaidWithItsRemedy) {
  const Sandbox sandbox;
  const auto complaint = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "explore");
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 2) << run.out;
    return run.err;
  };
  EXPECT_NE(complaint({"--scope", "token-tini"}).find("did you mean 'token-tiny'?"), std::string::npos);
  EXPECT_NE(complaint({"--scope", "layout=token,full=2,rows=0"}).find("a scope has 1 to 4 rows"), std::string::npos);
  EXPECT_NE(complaint({"--memory", "12"}).find("give a size of 1MiB at least"), std::string::npos);
  EXPECT_NE(complaint({"--threads", "0"}).find("--threads"), std::string::npos);
  EXPECT_NE(complaint({"--verify", "nowhere.json"}).find("nowhere.json: there is no such file"), std::string::npos);
  EXPECT_NE(complaint({"--verify", "."}).find("there is no such file, or it cannot be read"), std::string::npos);
  sandbox.write("not.json", "poolproof 1\n");
  EXPECT_NE(complaint({"--verify", "not.json"}).find("not.json: this is no certificate"), std::string::npos);
  EXPECT_NE(complaint({"--certificates", "not.json"}).find("that is a file; name a folder"), std::string::npos);
  EXPECT_NE(complaint({"--impl", "B15-group-end", "--scope", "token-tiny", "--scope", "paged-tiny"})
                .find("none of these implementations supports"),
            std::string::npos);
  EXPECT_NE(complaint({"--shard", "2/2"}).find("is no shard"), std::string::npos);
}

TEST(CliExplore, WhatCannotBeExploredHasNoVerdict) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"explore", "--impl", "B15-group-end", "--scope", "token-tiny"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.out.find("B15-group-end does not support the pool"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace poolproof
