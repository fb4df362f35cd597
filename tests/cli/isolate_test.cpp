// `--isolate`: the same findings, files and lines as in this process.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/program.hpp"
#include "tests/cli/xml.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string ring =
    "poolproof 1\n"
    "pool layout=hybrid page=4 full=8p swa=8p ring=8 window=4 reqs=2\n"
    "slot r0\n"
    "extend r0 0..6\n"
    "group {\n"
    "  free_segment r0 0..6\n"
    "}\n";

/// What differs from run to run: rates, and in JSON times.
std::string timeless(const std::string& text) {
  static const std::regex rate(R"( +[0-9.]+( [kMG])?  (RING_POOL_IDLE violated|holds))");
  static const std::regex seconds(R"("seconds": [0-9.e-]+)");
  return std::regex_replace(std::regex_replace(text, rate, " $2"), seconds, "");
}

TEST(Isolate, CheckFindsTheSame) {
  const Sandbox here;
  const Sandbox apart;
  const std::vector<std::string> args{"check",    "--impl",  "B15-group-end", "--impl",  "host",
                                      "--traces", "60",      "--out",         "out",     "--json",
                                      "r.json",   "--junit", "r.xml",         "--color", "never"};
  std::vector<std::string> isolated = args;
  isolated.insert(isolated.end(), {"--isolate", "always"});
  const ProgramRun first = here.run(args);
  const ProgramRun second = apart.run(isolated);
  EXPECT_EQ(first.status, 1) << first.err;
  EXPECT_EQ(second.status, 1) << second.err;
  EXPECT_EQ(timeless(second.out), timeless(first.out));
  EXPECT_EQ(timeless(apart.read("r.json")), timeless(here.read("r.json")));
  const std::string trace = "out/B15-group-end-RING_POOL_IDLE.trace";
  EXPECT_EQ(apart.read(trace), here.read(trace));

  const Json results = Json::parse(apart.read("r.json"))["results"];
  EXPECT_EQ(results[0]["impl"], "B15-group-end");
  EXPECT_EQ(results[0]["failure"]["replay"], "poolproof replay " + trace + " --impl B15-group-end");
  const std::string junit = apart.read("r.xml");
  EXPECT_EQ(xml_fault(junit), "");
  EXPECT_NE(junit.find("name=\"B15-group-end\""), std::string::npos) << junit;
}

TEST(Isolate, ReplayAndShrinkSayTheSame) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  std::vector<std::string> said;
  for (const std::string when : {"auto", "always", "never"}) {
    const ProgramRun replay = sandbox.run({"replay", "ring.trace", "--impl", "B15-group-end", "--isolate", when});
    EXPECT_EQ(replay.status, 1) << replay.err;
    const ProgramRun shrink =
        sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end", "-o", "small.trace", "--isolate", when});
    EXPECT_EQ(shrink.status, 0) << shrink.err;
    said.push_back(replay.out + shrink.out + sandbox.read("small.trace"));
  }
  EXPECT_EQ(said[1], said[0]);
  EXPECT_EQ(said[2], said[0]);
}

TEST(Isolate, WhatCannotBeBuiltIsNoVerdict) {
  const Sandbox sandbox;
  sandbox.write("a.trace", "poolproof 1\npool layout=paged page=4 full=8p\nextend r0 0..6\n");
  const ProgramRun here = sandbox.run({"replay", "a.trace", "--impl", "B15-group-end"});
  const ProgramRun apart = sandbox.run({"replay", "a.trace", "--impl", "B15-group-end", "--isolate", "always"});
  EXPECT_EQ(apart.status, 3);
  EXPECT_NE(
      apart.out.find("B15-group-end could not be run: it cannot be built for this pool: B15-group-end cannot show"),
      std::string::npos)
      << apart.out;
  EXPECT_EQ(apart.out, here.out);
}

TEST(Isolate, IsFoundByALinkInThePath) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  const ProgramRun run = sandbox.shell(
      "mkdir -p 'a b' && ln -s \"$POOLPROOF\" 'a b/pp' && PATH=\"$PWD/a b:$PATH\" pp replay ring.trace --isolate "
      "always");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "holds: 5 ops on host\n");
}

TEST(Isolate, Misuse) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--isolate", "sometimes"}).status, 2);
  EXPECT_EQ(sandbox.run({"worker", "--rank", "64"}).status, 2);
}

}  // namespace
}  // namespace poolproof
