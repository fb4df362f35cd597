// `--impl exec:...` and `worker` as a person calls them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

std::string exec(const std::string& arguments) { return std::string("exec:'") + POOLPROOF_BINARY + "' " + arguments; }

TEST(ExternalImpl, AMutantOverTheWireIsFoundWrittenAndReplayed) {
  const Sandbox sandbox;
  const std::string impl = exec("worker --impl B30");
  const ProgramRun run = sandbox.run({"check", "--impl", impl, "--traces", "100", "--out", "out", "--json", "r.json"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_NE(run.out.find("ALL_OR_NOTHING violated"), std::string::npos) << run.out;
  const auto json = nlohmann::json::parse(sandbox.read("r.json"));
  const std::string trace = json["results"][0]["failure"]["trace_file"];
  EXPECT_EQ(sandbox.run({"replay", trace, "--impl", impl}).status, 1);
  EXPECT_EQ(sandbox.run({"replay", trace, "--impl", exec("worker --impl host")}).status, 0);
  EXPECT_EQ(sandbox.run({"shrink", trace, "--impl", impl, "-o", "small.trace"}).status, 0);
}

TEST(ExternalImpl, CapabilitiesAreExplained) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--impl", exec("worker --impl B27"), "--traces", "3", "--ops", "20",
                                      "--out", "out", "--explain-capabilities", "--geometry", "hybrid-p4"});
  const std::size_t table = run.out.find("B27 0.1.0 offers");
  ASSERT_NE(table, std::string::npos) << run.out;
  expect_golden("capabilities.txt", run.out.substr(table));
}

TEST(ExternalImpl, WhatDoesNotStartIsNoVerdict) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--impl", "exec:/nowhere/adapter --flag"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(
      run.err.find("exec:/nowhere/adapter --flag could not be run: it did not say hello: ended with exit status 127"),
      std::string::npos)
      << run.err;
  EXPECT_EQ(sandbox.run({"check", "--impl", "exec:"}).status, 3);
  EXPECT_EQ(sandbox.run({"replay", "missing.trace", "--impl", "exec:true"}).status, 2);
}

TEST(ExternalImpl, ATimeLimitIsATime) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--time-limit", "soon"}).status, 2);
}

TEST(Worker, ServesLinesAndRefusesWhatIsNone) {
  const Sandbox sandbox;
  const std::string lines =
      R"({"poolproof":1,"hello":{}})"
      "\n"
      R"({"reset":{"layout":"token","page":1,"full":2,"swa":0,"ring":0,"window":0,"reqs":0,"need_sort":false}})"
      "\n"
      R"({"run":[{"call":"alloc","tokens":2},{"call":"free","locs":[[0,1,1]]},{"call":"gauges"}]})"
      "\n";
  const ProgramRun served = sandbox.run({"worker"}, {lines, {}});
  EXPECT_EQ(served.status, 0) << served.err;
  EXPECT_NE(served.out.find(R"({"ok":true})"), std::string::npos);
  EXPECT_NE(served.out.find(R"({"answers":[{"locs":[[1,2]]},{},{"gauges":{"available":1,)"), std::string::npos)
      << served.out;

  const ProgramRun refused = sandbox.run({"worker"}, {"good morning\n", {}});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("<stdin>:1: no request of the external protocol: it is no JSON: good morning"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(sandbox.run({"worker", "--impl", "nobody"}).status, 2);
}

}  // namespace
}  // namespace poolproof
