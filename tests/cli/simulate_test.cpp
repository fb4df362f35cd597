// `poolproof simulate`: workloads from files, pipes and generators, everything that it writes, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/program.hpp"
#include "tests/cli/xml.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string azure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:15:46.6805900,374,44\n"
    "2023-11-16 18:15:46.9951690,396,30\n"
    "2023-11-16 18:15:47.2224670,879,25\n"
    "2023-11-16 18:15:47.3910170,91,16\n";
const std::string small_pool = "layout=hybrid,page=16,full=128p,swa=64p,window=64,reqs=4";

/// Without what depends on the machine.
std::string untimed(const std::string& out) {
  return std::regex_replace(out, std::regex(" in [0-9.]+ s, [0-9.]+ ?k? ?M? ?ops/s"), " in S s, R ops/s");
}

TEST(Simulate, ATableForPeople) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const ProgramRun run = sandbox.run({"simulate", "w.csv", "--geometry", small_pool});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  expect_golden("simulate-holds.txt", untimed(run.out));
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"w.csv"}));
}

TEST(Simulate, TheTraceIsReplayableAndPacked) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  ASSERT_EQ(sandbox.run({"simulate", "w.csv", "--trace-out", "a.trace"}).status, 0);
  ASSERT_EQ(sandbox.run({"simulate", "w.csv", "--trace-out", "a.trace.zst"}).status, 0);
  const ProgramRun to_stdout = sandbox.run({"simulate", "w.csv", "--trace-out", "-"});
  EXPECT_EQ(to_stdout.out, sandbox.read("a.trace"));
  EXPECT_NE(to_stdout.err.find("requests served"), std::string::npos);
  EXPECT_LT(sandbox.read("a.trace.zst").size(), sandbox.read("a.trace").size());
  const ProgramRun plain = sandbox.run({"replay", "a.trace"});
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(sandbox.run({"replay", "a.trace.zst"}).out, plain.out);
  EXPECT_EQ(sandbox.run({"replay", "-"}, {sandbox.read("a.trace.zst"), {}}).out, plain.out);
}

TEST(Simulate, Json) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const ProgramRun run =
      sandbox.run({"simulate", "w.csv", "--geometry", small_pool, "--json", "-", "--junit", "r.xml"});
  EXPECT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["command"], "simulate");
  const Json& simulation = json["simulation"];
  EXPECT_EQ(simulation["workload"], "w.csv");
  EXPECT_EQ(simulation["format"], "Azure CSV");
  EXPECT_EQ(simulation["counts"]["arrived"], 4);
  EXPECT_EQ(simulation["counts"]["served"].get<int>() + simulation["counts"]["aborted"].get<int>(), 4);
  EXPECT_EQ(simulation["pools"].size(), 3U);
  EXPECT_EQ(simulation["pools"][0]["size"], 2048);
  EXPECT_EQ(json["results"][0]["status"], "holds");
  EXPECT_EQ(json["results"][0]["failure"], nullptr);
  EXPECT_EQ(xml_fault(sandbox.read("r.xml")), "");
}

TEST(Simulate, APageOfItsOwn) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  ASSERT_EQ(sandbox.run({"simulate", "w.csv", "--geometry", small_pool, "--html", "p.html"}).status, 0);
  const std::string page = sandbox.read("p.html");
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(opening);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = page.find("</script>", begin);
  const Json data = Json::parse(page.substr(begin + opening.size(), end - begin - opening.size()));
  EXPECT_EQ(data["workload"], "w.csv");
  EXPECT_EQ(data["impl"], "host");
  EXPECT_EQ(data["verdict"], nullptr);
  ASSERT_EQ(data["pools"].size(), 3U);
  const std::size_t samples = data["time_us"].size();
  EXPECT_GT(samples, 20U);
  for (const Json& pool : data["pools"]) {
    for (std::size_t i = 0; i < samples; ++i) {
      std::int64_t sum = 0;
      for (const char* kind : {"free", "staged", "deferred", "lent", "tombstone"}) {
        sum += pool[kind].is_null() ? 0 : pool[kind][i].get<std::int64_t>();
      }
      EXPECT_EQ(sum, pool["size"].get<std::int64_t>());
    }
  }
  EXPECT_EQ(data["running"].size(), samples);
  // Nothing is fetched: the one address in it is the name of SVG's elements.
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex("https?://(?!www\\.w3\\.org/2000/svg)")));
}

TEST(Simulate, WhatThePageIsToldIsData) {
  const Sandbox sandbox;
  const std::string name = "<!-- b <script> c.csv";
  sandbox.write(name, azure);
  ASSERT_EQ(sandbox.run({"simulate", name, "--html", "p.html"}).status, 0);
  EXPECT_EQ(sandbox.read("p.html").find("<!-- b"), std::string::npos);
  EXPECT_NE(sandbox.read("p.html").find("\\u003c!-- b \\u003cscript> c.csv"), std::string::npos);
}

TEST(Simulate, AKnownBugIsCaughtShrunkAndExplained) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const ProgramRun run = sandbox.run(
      {"simulate", "w.csv", "--impl", "B20", "--geometry", small_pool, "--html", "p.html", "--json", "r.json"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("simulate-violated.txt", untimed(run.out));
  const Json failure = Json::parse(sandbox.read("r.json"))["results"][0]["failure"];
  EXPECT_EQ(failure["cause"], "GROUP_OWNERSHIP");
  const std::string file = failure["trace_file"];
  EXPECT_EQ(file, "poolproof-out/B20-GROUP_OWNERSHIP.trace");
  EXPECT_EQ(sandbox.run({"replay", file, "--impl", "B20"}).status, 1);
  EXPECT_EQ(sandbox.run({"replay", file}).status, 0);
  EXPECT_NE(sandbox.read("p.html").find("GROUP_OWNERSHIP"), std::string::npos);
}

TEST(Simulate, NoShrinkKeepsTheTraceWhole) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  ASSERT_EQ(sandbox
                .run({"simulate", "w.csv", "--impl", "B20", "--geometry", small_pool, "--no-shrink", "--out", "d",
                      "--json", "r.json"})
                .status,
            1);
  const Json json = Json::parse(sandbox.read("r.json"));
  const std::string trace = sandbox.read("d/B20-GROUP_OWNERSHIP.trace");
  EXPECT_EQ(trace.find("shrunk"), std::string::npos);
  EXPECT_EQ(json["results"][0]["failure"]["trace"].get<std::string>().find("\nslot r0\n") != std::string::npos, true);
}

// docs/simulating.md: the ring sizing examples, by the program.
TEST(Simulate, ARingTooSmallForSpeculationIsTheEnginesFault) {
  const Sandbox sandbox;
  const std::vector<std::string> base{
      "simulate", "synthetic:requests=40,input=500,output=60", "--read-one-in", "1", "--speculate", "4"};
  const auto with_ring = [&](const std::string& ring) {
    std::vector<std::string> args = base;
    args.insert(args.end(),
                {"--geometry", "layout=hybrid,page=16,full=512p,swa=16p,ring=" + ring + ",window=128,reqs=8"});
    return sandbox.run(args);
  };
  const ProgramRun tight = with_ring("128");
  EXPECT_EQ(tight.status, 1) << tight.err;
  EXPECT_NE(tight.out.find("C10"), std::string::npos) << tight.out;
  EXPECT_NE(tight.out.find("a rejected token went over it, KV_INTACT"), std::string::npos) << tight.out;
  EXPECT_EQ(with_ring("132").status, 0);
  EXPECT_EQ(with_ring("131").status, 1);
}

TEST(Simulate, ACachedPrefixWithoutItsWindowIsTheEnginesFault) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run(
      {"simulate", "synthetic:requests=40,input=1500,output=20,shared=100,families=1,prefix=1024", "--read-one-in", "1",
       "--geometry", "layout=hybrid,page=16,full=2048p,swa=16p,ring=1024,window=1024,reqs=8", "--without",
       "window-rewrite"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_NE(run.out.find("KV_FRESH cannot hold"), std::string::npos) << run.out;
}

TEST(Simulate, FromAPipe) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"simulate", "-", "--geometry", small_pool}, {azure, {}});
  EXPECT_EQ(run.status, 0) << run.err;
  const ProgramRun broken = sandbox.run({"simulate", "-", "--impl", "B20", "--geometry", small_pool}, {azure, {}});
  EXPECT_EQ(broken.status, 1);
  EXPECT_NE(broken.err.find("the workload cannot be read again"), std::string::npos) << broken.err;
  EXPECT_NE(broken.out.find("GROUP_OWNERSHIP"), std::string::npos);
}

TEST(Simulate, MalformedRows) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure + "2023-11-16 18:15:48,many,1\n");
  const ProgramRun run = sandbox.run({"simulate", "w.csv", "--html", "p.html", "--trace-out", "t.trace"});
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(run.err.starts_with("w.csv:6:21: in column ContextTokens stands no count of tokens; expected "))
      << run.err;
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"w.csv"})) << "an output was left behind";
  const ProgramRun lenient = sandbox.run({"simulate", "w.csv", "--lenient"});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_NE(lenient.out.find("malformed rows    1 left out"), std::string::npos) << lenient.out;
}

TEST(Simulate, SaysWhatIsWrongAndTheRemedy) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"simulate", "missing.csv"}, "cannot read missing.csv: No such file or directory"},
      {{"simulate", "."}, ".: that is a folder; name a workload file in it"},
      {{"simulate", "w.csv", "--model", "gpt-oss-121b"}, "did you mean 'gpt-oss-120b'?"},
      {{"simulate", "w.csv", "--geometry", "full=3,page=2"}, "--geometry full=3,page=2: "},
      {{"simulate", "w.csv", "--impl", "mutants"}, "a workload is run on one implementation"},
      {{"simulate", "w.csv", "--impl", "hots"}, "did you mean 'host'?"},
      {{"simulate", "w.csv", "--without", "group"}, "did you mean 'groups'?"},
      {{"simulate", "w.csv", "--with", "magic"}, "--with: no feature is named 'magic'"},
      {{"simulate", "w.csv", "--speed", "fast"}, "'fast' is no factor"},
      {{"simulate", "w.csv", "--seed", "x"}, "--seed: 'x' is no seed"},
      {{"simulate", "synthetic:rate=5"}, "a synthetic workload has no 'rate'"},
      {{"simulate", "synthetic:requests"}, "requests=: a whole number"},
      {{"simulate", "w.csv", "--html", "x", "--json", "x"}, "two outputs are named x"},
      {{"simulate", "w.csv", "--html", "w.csv"}, "w.csv is the workload"},
      {{"simulate", "w.csv", "--html", "no/folder/p.html"}, "cannot write no/folder/p.html"},
      {{"simulate", "w.csv", "--chunk", "4"}, "chunks of 4 tokens are less than a page of 256"},
  };
  for (const auto& [args, message] : cases) {
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 2) << message;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "") << message;
  }
  EXPECT_EQ(sandbox.run({"simulate", "w.csv", "--impl", "B15-group-end"}).status, 3);
}

TEST(Simulate, AsAModelsPool) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const ProgramRun run =
      sandbox.run({"simulate", "w.csv", "--model", "gpt-oss-120b", "--geometry", "full=2048p,reqs=8"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("pool layout=hybrid page=64 full=2048p swa=11082p window=128 reqs=8"), std::string::npos)
      << run.out;
}

TEST(Simulate, ATimeLimitEndsItInOrder) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run(
      {"simulate", "synthetic:requests=100000000", "--time", "0.3", "--trace-out", "t.trace", "--html", "p.html"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("holds on host, as far as it came: it was stopped\n"), std::string::npos) << run.out;
  EXPECT_EQ(sandbox.run({"replay", "t.trace", "--census-every", "0"}).status, 0);
  EXPECT_TRUE(sandbox.exists("p.html"));
}

TEST(Simulate, AnExternalImplementation) {
  const Sandbox sandbox;
  sandbox.write("w.csv", azure);
  const ProgramRun run = sandbox.shell(
      "$POOLPROOF simulate w.csv --impl \"exec:$POOLPROOF worker --impl host\" "
      "--geometry " +
      small_pool);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("ops               297 in "), std::string::npos) << run.out;
  const ProgramRun isolated =
      sandbox.run({"simulate", "w.csv", "--impl", "B20", "--isolate", "always", "--geometry", small_pool});
  EXPECT_EQ(isolated.status, 1) << isolated.err;
  EXPECT_NE(isolated.out.find("GROUP_OWNERSHIP violated"), std::string::npos) << isolated.out;
}

TEST(Simulate, TheSwarmIsTheSeeds) {
  const Sandbox sandbox;
  const std::vector<std::string> args{"simulate", "synthetic:requests=50", "--swarm", "--seed", "5"};
  const ProgramRun a = sandbox.run(args);
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(untimed(sandbox.run(args).out), untimed(a.out));
}

}  // namespace
}  // namespace poolproof
