// `poolproof check`: exit statuses, reports, files, seeds, shards, interrupts.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/cli/xml.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string ring_pool = "layout=hybrid,page=4,full=8p,swa=8p,ring=8,window=4,reqs=2";

/// Without what differs from run to run: the rates.
std::string without_rates(const std::string& text) {
  return std::regex_replace(text, std::regex(" +[0-9.]+( [kM])?  (holds|[A-Z_]+ violated)"), " RATE  $2");
}

TEST(Check, HostHolds) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--traces", "100", "--ops", "40"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("seed 1\n")) << run.out;
  EXPECT_NE(run.out.find("canary caught by "), std::string::npos) << run.out;
  EXPECT_TRUE(std::regex_search(run.out, std::regex("host +100 +4000 .*holds\n"))) << run.out;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(sandbox.files().empty());
}

TEST(Check, AMutantIsCaughtWrittenExplainedAndReplayed) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--impl", "B15-group-end", "--geometry", ring_pool});
  EXPECT_EQ(run.status, 1) << run.err;
  const std::string file = "poolproof-out/B15-group-end-RING_POOL_IDLE.trace";
  ASSERT_TRUE(sandbox.exists(file)) << run.out;
  for (const char* part : {"seed 1\n", "RING_POOL_IDLE violated: the allocator's fault (--impl B15-group-end)\n",
                           "   <-- RING_POOL_IDLE\n", "TEST(PoolRegression, B15GroupEndRingPoolIdle)",
                           "RATE  RING_POOL_IDLE violated\n"}) {
    EXPECT_NE(without_rates(run.out).find(part), std::string::npos) << part << "\nis not in\n" << run.out;
  }
  EXPECT_NE(sandbox.read(file).find("# RING_POOL_IDLE on B15-group-end: "), std::string::npos) << sandbox.read(file);

  const std::string line = "poolproof replay " + file + " --impl B15-group-end";
  ASSERT_NE(run.out.find(line), std::string::npos) << run.out;
  const ProgramRun again = sandbox.shell("\"$POOLPROOF\"" + line.substr(line.find(' ')));
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_NE(again.out.find("RING_POOL_IDLE violated"), std::string::npos) << again.out;
  const ProgramRun fixed = sandbox.run({"replay", file});
  EXPECT_EQ(fixed.status, 0) << fixed.out;
}

TEST(Check, EachNewFailureTakesThePlaceOfTheOldTrace) {
  const Sandbox sandbox;
  const std::vector<std::string> args{"check", "--impl", "B15-group-end", "--geometry", ring_pool, "--out", "a/b"};
  EXPECT_EQ(sandbox.run(args).status, 1);
  const std::string file = "a/b/B15-group-end-RING_POOL_IDLE.trace";
  const std::string first = sandbox.read(file);
  sandbox.write(file, "old");
  EXPECT_EQ(sandbox.run(args).status, 1);
  EXPECT_EQ(sandbox.read(file), first);
  EXPECT_EQ(sandbox.files(), std::vector<std::string>{"a"});
}

TEST(Check, FolderThatCannotBeMadeLosesNoReport) {
  const Sandbox sandbox;
  sandbox.write("file", "");
  const ProgramRun run =
      sandbox.run({"check", "--impl", "B15-group-end", "--geometry", ring_pool, "--out", "file/below"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("file/below"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("RING_POOL_IDLE violated"), std::string::npos) << run.out;
}

TEST(Check, SameSeedSameOutput) {
  const Sandbox one;
  const Sandbox two;
  const std::vector<std::string> args{"check", "--impl", "host", "--impl", "B20", "--seed", "99", "--traces", "300"};
  const ProgramRun first = one.run(args);
  const ProgramRun second = two.run(args);
  EXPECT_EQ(without_rates(first.out), without_rates(second.out));
  EXPECT_TRUE(first.out.starts_with("seed 99\n"));
  EXPECT_NE(without_rates(first.out).find("RATE"), std::string::npos);
}

TEST(Check, SeedFromEnvironmentAndFlagWins) {
  const Sandbox sandbox;
  const ProgramInput environment{{}, {{"POOLPROOF_SEED", "123"}}};
  const std::vector<std::string> args{"check", "--traces", "3"};
  EXPECT_TRUE(sandbox.run(args, environment).out.starts_with("seed 123\n"));
  EXPECT_TRUE(sandbox.run({"check", "--traces", "3", "--seed", "5"}, environment).out.starts_with("seed 5\n"));
  const ProgramRun bad = sandbox.run(args, {{}, {{"POOLPROOF_SEED", "12x"}}});
  EXPECT_EQ(bad.status, 2);
  EXPECT_NE(bad.err.find("POOLPROOF_SEED: '12x' is no seed"), std::string::npos) << bad.err;
}

TEST(Check, RandomSeedIsPrintedAndReproduces) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--traces", "20", "--seed", "random"});
  std::smatch seed;
  ASSERT_TRUE(std::regex_search(run.out, seed, std::regex("^seed ([0-9]+)\n"))) << run.out;
  const ProgramRun again = sandbox.run({"check", "--traces", "20", "--seed", seed[1].str()});
  EXPECT_EQ(without_rates(run.out), without_rates(again.out));
}

TEST(Check, JsonHasTheFailure) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--impl", "host", "--impl", "B15-free-swa", "--geometry", ring_pool,
                                      "--traces", "200", "--json", "r.json"});
  EXPECT_EQ(run.status, 1);
  const Json json = Json::parse(sandbox.read("r.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "check");
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["campaign"]["traces"], 200);
  EXPECT_EQ(json["canary"]["caught"], true);
  ASSERT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["status"], "holds");
  EXPECT_EQ(json["results"][0]["traces"], 200);
  EXPECT_TRUE(json["results"][0]["failure"].is_null());
  const Json& failure = json["results"][1]["failure"];
  EXPECT_EQ(json["results"][1]["status"], "violated");
  EXPECT_EQ(failure["cause"], "RING_POOL_IDLE");
  EXPECT_EQ(failure["blame"], "the allocator");
  EXPECT_EQ(failure["reproduced"], true);
  EXPECT_EQ(failure["trace_file"], "poolproof-out/B15-free-swa-RING_POOL_IDLE.trace");
  EXPECT_GT(failure["original_ops"], 0);
  // The line in JSON is the op's line in the file.
  const std::string file = sandbox.read(failure["trace_file"]);
  std::size_t begin = 0;
  for (int line = 1; line < failure["op"]["line"].get<int>(); ++line) {
    begin = file.find('\n', begin) + 1;
  }
  const std::string text = failure["op"]["text"];
  EXPECT_NE(file.substr(begin, file.find('\n', begin) - begin).find(text), std::string::npos);
}

TEST(Check, JsonOnStdoutIsJsonAlone) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--traces", "20", "--json", "-"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(Json::parse(run.out)["results"][0]["impl"], "host");
  EXPECT_TRUE(run.err.starts_with("seed 1\n")) << run.err;
}

TEST(Check, JunitIsWellFormed) {
  const Sandbox sandbox;
  sandbox.run({"check", "--impl", "host", "--impl", "B15-group-end", "--geometry", ring_pool, "--junit", "r.xml"});
  const std::string xml = sandbox.read("r.xml");
  EXPECT_EQ(xml_fault(xml), "") << xml;
  EXPECT_NE(xml.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure type=\"RING_POOL_IDLE\""), std::string::npos) << xml;
}

TEST(Check, OutputFilesAreWholeOrNotThere) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"check", "--traces", "5", "--json", "no/such/folder/r.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("no/such/folder/r.json"), std::string::npos) << run.err;
  EXPECT_EQ(sandbox.run({"check", "--traces", "5", "--json", "a.json", "--junit", "a.xml"}).status, 0);
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"a.json", "a.xml"}));
  EXPECT_EQ(sandbox.run({"check", "--traces", "5", "--json", "x", "--junit", "x"}).status, 2);
}

TEST(Check, PoolsTooLargeForTheMemoryHaveNoVerdict) {
  const Sandbox sandbox;
  const ProgramRun run =
      sandbox.shell("ulimit -v 400000 && \"$POOLPROOF\" check --geometry layout=token,full=1000000000,reqs=1");
  if (run.err.find("Sanitizer") != std::string::npos) {
    GTEST_SKIP() << "a sanitizer needs all the address space";
  }
  EXPECT_EQ(run.status, 3) << run.out;
  EXPECT_NE(run.err.find("not enough memory"), std::string::npos) << run.err;
}

TEST(Check, RequiredCoverage) {
  const Sandbox sandbox;
  const ProgramRun little = sandbox.run({"check", "--traces", "1", "--require-coverage", "--json", "r.json"});
  EXPECT_EQ(little.status, 3) << little.out;
  EXPECT_NE(little.err.find("not exercised: "), std::string::npos) << little.err;
  EXPECT_FALSE(Json::parse(sandbox.read("r.json"))["coverage"]["missing"].empty());
  const ProgramRun enough = sandbox.run({"check", "--traces", "6000", "--require-coverage", "--coverage"});
  EXPECT_EQ(enough.status, 0) << enough.err;
  EXPECT_NE(enough.out.find("missing: nothing\n"), std::string::npos) << enough.out;
}

std::uint64_t traces_of(const ProgramRun& run) { return Json::parse(run.out)["results"][0]["traces"]; }

TEST(Check, ShardsAddUp) {
  const Sandbox sandbox;
  std::uint64_t flags = 0;
  std::uint64_t environment = 0;
  for (const std::string index : {"0", "1", "2"}) {
    flags += traces_of(sandbox.run({"check", "--traces", "100", "--shard", index + "/3", "--json", "-"}));
    environment += traces_of(sandbox.run({"check", "--traces", "100", "--json", "-"},
                                         {{}, {{"GTEST_TOTAL_SHARDS", "3"}, {"GTEST_SHARD_INDEX", index}}}));
  }
  EXPECT_EQ(flags, 100U);
  EXPECT_EQ(environment, 100U);
  for (const std::string bad : {"3/3", "1", "/", "0/0", "-1/2", "a/b", "1/2/3"}) {
    const ProgramRun run = sandbox.run({"check", "--shard", bad});
    EXPECT_EQ(run.status, 2) << bad;
    EXPECT_NE(run.err.find("is no shard"), std::string::npos) << run.err;
  }
}

TEST(Check, SaysWhichShardAndWhoSaidSo) {
  const Sandbox sandbox;
  const std::vector<std::string> few = {"check", "--traces", "8"};
  const ProgramRun slurm = sandbox.run(
      few, {{}, {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}});
  EXPECT_TRUE(slurm.out.starts_with("seed 1, shard 2/4 (SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT)\n"))
      << slurm.out;
  const ProgramRun half = sandbox.run(few, {{}, {{"SLURM_ARRAY_TASK_ID", "3"}}});
  EXPECT_EQ(half.status, 2);
  EXPECT_NE(half.err.find("SLURM_ARRAY_TASK_COUNT="), std::string::npos) << half.err;
  const ProgramRun flag =
      sandbox.run({"check", "--traces", "8", "--shard", "0/2"}, {{}, {{"SLURM_ARRAY_TASK_ID", "3"}}});
  EXPECT_TRUE(flag.out.starts_with("seed 1, shard 0/2 (--shard)\n")) << flag.out;
}

TEST(Check, TouchesTheStatusFileOfGoogleTest) {
  const Sandbox sandbox;
  const std::vector<std::string> one = {"check", "--traces", "1"};
  EXPECT_EQ(sandbox.run(one, {{}, {{"GTEST_SHARD_STATUS_FILE", "touched"}}}).status, 0);
  EXPECT_TRUE(sandbox.exists("touched"));
  const ProgramRun nowhere = sandbox.run(one, {{}, {{"GTEST_SHARD_STATUS_FILE", "no/such/folder/file"}}});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_NE(nowhere.err.find("GTEST_SHARD_STATUS_FILE=no/such/folder/file"), std::string::npos) << nowhere.err;
}

TEST(Check, TimeLimitEndsIt) {
  const Sandbox sandbox;
  const auto begun = std::chrono::steady_clock::now();
  const ProgramRun run = sandbox.run({"check", "--time", "0.3"});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_GE(spent.count(), 0.3);
  EXPECT_LT(spent.count(), 30);
}

/// Sends `signal` once the run has begun, and answers how it ended.
ProgramRun interrupt(const Sandbox& sandbox, const std::vector<std::string>& args, int signal) {
  const pid_t pid = sandbox.start(args);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  kill(pid, signal);
  return sandbox.finish(pid);
}

TEST(Check, InterruptEndsWithASummary) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Sandbox sandbox;
    const ProgramRun run = interrupt(sandbox, {"check", "--traces", "1000000000", "--json", "r.json"}, signal);
    EXPECT_EQ(run.status, 130);
    EXPECT_TRUE(std::regex_search(run.out, std::regex("host +[1-9][0-9]* +.*holds\n"))) << run.out;
    EXPECT_NE(run.err.find("interrupted"), std::string::npos) << run.err;
    const Json json = Json::parse(sandbox.read("r.json"));
    EXPECT_EQ(json["interrupted"], true);
    EXPECT_EQ(json["exit_status"], 130);
    EXPECT_EQ(sandbox.files(), std::vector<std::string>{"r.json"});
  }
}

TEST(Check, InterruptAfterAFindingIsAViolation) {
  const Sandbox sandbox;
  const ProgramRun run = interrupt(
      sandbox, {"check", "--impl", "B15-group-end", "--impl", "host", "--traces", "1000000000", "--junit", "r.xml"},
      SIGINT);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("RING_POOL_IDLE violated"), std::string::npos) << run.out;
  EXPECT_EQ(xml_fault(sandbox.read("r.xml")), "");
}

TEST(Check, ColorNeverInAPipe) {
  const Sandbox sandbox;
  const std::vector<std::string> args{"check", "--impl", "B15-group-end", "--geometry", ring_pool};
  EXPECT_EQ(sandbox.run(args).out.find('\x1b'), std::string::npos);
  std::vector<std::string> colored = args;
  colored.insert(colored.end(), {"--color", "always"});
  EXPECT_NE(sandbox.run(colored).out.find('\x1b'), std::string::npos);
}

TEST(Check, NoProgressInAPipe) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--traces", "300"}).err, "");
}

struct Misuse {
  std::vector<std::string> args;
  std::string says;
};

TEST(Check, MisuseIsNamedWithItsRemedy) {
  const Sandbox sandbox;
  const std::vector<Misuse> misuses{
      {{"check", "--impl", "hots"}, "no implementation is named 'hots' (did you mean 'host'?); "},
      {{"check", "--impl", "b15-group"}, "did you mean 'B15-group-end'?"},
      {{"check", "--geometry", "hybrid-p4-rin"}, "did you mean 'hybrid-p4-ring"},
      {{"check", "--geometry", "layout=paged,page=3,full=9"}, "--geometry layout=paged,page=3,full=9: "},
      {{"check", "--geometry", "layout=paged,page"}, "'page' is not KEY=VAL"},
      {{"check", "--geometry", "page=4,page=4"}, "'page' is given twice"},
      {{"check", "--geometry", "sise=4"}, "sise"},
      {{"check", "--geometry", "layout=token,full=8", "--geometry", "nothing-like-it"}, "no geometry is named"},
      {{"check", "--traces", "0"}, "--traces"},
      {{"check", "--traces", "-1"}, "--traces"},
      {{"check", "--traces", "many"}, "--traces"},
      {{"check", "--ops", "0"}, "--ops"},
      {{"check", "--seed", "x"}, "--seed: 'x' is no seed"},
      {{"check", "--time", "0"}, "--time"},
      {{"check", "--color", "sometimes"}, "--color"},
      {{"check", "--trace", "5"}, "'--trace' was not expected (did you mean '--traces'?); "},
      {{"check", "--out", "file"}, "--out file: that is a file"},
      {{"chek"}, "'chek' was not expected (did you mean 'check'?); "},
      {{"--nothing"}, "'--nothing' was not expected"},
  };
  sandbox.write("file", "");
  for (const Misuse& misuse : misuses) {
    const ProgramRun run = sandbox.run(misuse.args);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(misuse.says), std::string::npos) << run.err;
    EXPECT_TRUE(run.err.starts_with("poolproof: ")) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

TEST(Check, NameAndPinAtOnceAreRefused) {
  const Sandbox sandbox;
  const std::string name = sandbox.run({"list", "geometries", "--names"}).out;
  const ProgramRun run =
      sandbox.run({"check", "--geometry", name.substr(0, name.find('\n')), "--geometry", "layout=token,full=8"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("in two runs"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace poolproof
