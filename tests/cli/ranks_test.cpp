// `--ranks`: replicas that must agree, from the command line to the lines to paste.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string two_pages_freed =
    "poolproof 1\npool layout=paged page=4 full=4p\nextend r0 0..8\nfree r0 0..8\nextend r1 0..4\n";

TEST(Ranks, AFindingIsWrittenToldAndReplayed) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--impl", "order-of-arrival", "--out", "out", "--json", "r.json"});
  EXPECT_EQ(run.status, 1) << run.err;
  const std::string file = "out/order-of-arrival-RANKS_AGREE.trace";
  const std::string line = "poolproof replay " + file + " --impl order-of-arrival --ranks 2";
  EXPECT_NE(run.out.find(line + "\n"), std::string::npos) << run.out;
  EXPECT_NE(sandbox.read(file).find(" ops, 2 ranks\n"), std::string::npos) << sandbox.read(file);
  const Json json = Json::parse(sandbox.read("r.json"));
  EXPECT_EQ(json["campaign"]["ranks"], 1);
  EXPECT_EQ(json["results"][0]["ranks"], 2);
  EXPECT_EQ(json["results"][0]["failure"]["cause"], "RANKS_AGREE");
  EXPECT_EQ(json["results"][0]["failure"]["blame"], "the allocator");
  EXPECT_EQ(json["results"][0]["failure"]["replay"], line);
  EXPECT_EQ(sandbox.shell("\"$POOLPROOF\" " + line.substr(line.find(' ') + 1)).status, 1);
  EXPECT_EQ(sandbox.run({"replay", file, "--impl", "host", "--ranks", "2"}).status, 0);
}

TEST(Ranks, ReplayExplains) {
  const Sandbox sandbox;
  sandbox.write("a.trace", two_pages_freed);
  const ProgramRun run = sandbox.run({"replay", "a.trace", "--impl", "order-of-arrival", "--ranks", "3"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("replay-ranks-differ.txt", run.out);
  const ProgramRun apart =
      sandbox.run({"replay", "a.trace", "--impl", "order-of-arrival", "--ranks", "3", "--isolate", "always"});
  EXPECT_EQ(apart.out, run.out);
  EXPECT_EQ(sandbox.run({"replay", "a.trace", "--ranks", "3"}).out, "holds: 3 ops on host, 3 ranks\n");
}

TEST(Ranks, ShrinkKeepsThem) {
  const Sandbox sandbox;
  sandbox.write("a.trace", two_pages_freed);
  const ProgramRun run = sandbox.run({"shrink", "a.trace", "--impl", "order-of-arrival", "-o", "small.trace"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("3 to 2 ops in "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("poolproof replay small.trace --impl order-of-arrival --ranks 2\n"), std::string::npos);
}

TEST(Ranks, Misuse) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--ranks", "0"}).status, 2);
  const ProgramRun many = sandbox.run({"check", "--ranks", "65"});
  EXPECT_EQ(many.status, 2);
  EXPECT_NE(many.err.find("no whole number from 1 to 64"), std::string::npos) << many.err;
}

}  // namespace
}  // namespace poolproof
