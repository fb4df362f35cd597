// `poolproof replay` and `poolproof shrink`: verdicts, malformed files, stdin, and that nothing is left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/program.hpp"
#include "tests/cli/xml.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string good = "poolproof 1\npool layout=paged page=4 full=8p\nextend r0 0..6\nfree r0 0..6\n";
const std::string double_free = good + "extend r1 0..4\nfree r0 0..4\n";
/// Fails on B15-group-end alone; most of it does not matter.
const std::string ring =
    "poolproof 1\n"
    "pool layout=hybrid page=4 full=8p swa=8p ring=8 window=4 reqs=2\n"
    "slot r0\n"
    "extend r0 0..6\n"
    "write r0 0..6\n"
    "read r0 0..6\n"
    "slot r1\n"
    "extend r1 0..4\n"
    "free r1 0..4\n"
    "unslot r1\n"
    "decode r0\n"
    "group {\n"
    "  free_segment r0 0..7\n"
    "}\n"
    "expect available full=8p\n";

TEST(Replay, Holds) {
  const Sandbox sandbox;
  sandbox.write("a.trace", good);
  const ProgramRun run = sandbox.run({"replay", "a.trace"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "holds: 2 ops on host\n");
  EXPECT_EQ(run.err, "");
}

TEST(Replay, FromStdin) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"replay", "-"}, {good, {}}).out, "holds: 2 ops on host\n");
  const ProgramRun bad = sandbox.run({"replay", "-"}, {"poolproof 1\npool\n", {}});
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.err.starts_with("<stdin>:2:")) << bad.err;
  const ProgramRun broken = sandbox.run({"replay", "-"}, {double_free, {}});
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(broken.out.find("poolproof replay"), std::string::npos) << broken.out;
}

TEST(Replay, BrokenProtocolIsTheCallersFault) {
  const Sandbox sandbox;
  sandbox.write("a.trace", double_free);
  const ProgramRun run = sandbox.run({"replay", "a.trace", "--json", "r.json", "--junit", "r.xml"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("replay-callers-fault.txt", run.out);
  const Json json = Json::parse(sandbox.read("r.json"));
  EXPECT_EQ(json["command"], "replay");
  EXPECT_EQ(json["trace_file"], "a.trace");
  const Json& failure = json["results"][0]["failure"];
  EXPECT_EQ(failure["cause"], "C1");
  EXPECT_EQ(failure["blame"], "the caller");
  EXPECT_EQ(failure["op"]["number"], 4);
  EXPECT_EQ(failure["op"]["line"], 6);
  EXPECT_EQ(failure["other_op"]["number"], 2);
  EXPECT_EQ(failure["replay"], "poolproof replay a.trace --impl host");
  EXPECT_EQ(xml_fault(sandbox.read("r.xml")), "");
}

TEST(Replay, AllocatorsFault) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  EXPECT_EQ(sandbox.run({"replay", "ring.trace"}).status, 0);
  const ProgramRun run = sandbox.run({"replay", "ring.trace", "--impl", "B15-group-end"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("replay-allocators-fault.txt", run.out);
}

TEST(Replay, ManyImplementations) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  const ProgramRun run =
      sandbox.run({"replay", "ring.trace", "--impl", "host", "--impl", "B15-group-end", "--json", "r.json"});
  EXPECT_EQ(run.status, 1);
  const Json results = Json::parse(sandbox.read("r.json"))["results"];
  EXPECT_EQ(results[0]["status"], "holds");
  EXPECT_EQ(results[1]["status"], "violated");
}

TEST(Replay, UnmetExpectation) {
  const Sandbox sandbox;
  sandbox.write("a.trace", good + "expect available full=7p\n");
  const ProgramRun run = sandbox.run({"replay", "a.trace"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("expectation not met"), std::string::npos) << run.out;
}

TEST(Replay, RareCensusesFindTheSameOp) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  const ProgramRun often = sandbox.run({"replay", "ring.trace", "--impl", "B15-group-end"});
  const ProgramRun rarely = sandbox.run({"replay", "ring.trace", "--impl", "B15-group-end", "--census-every", "0"});
  EXPECT_EQ(often.out, rarely.out);
}

TEST(Replay, MissingFileAndFolder) {
  const Sandbox sandbox;
  for (const std::string path : {"none.trace", "."}) {
    const ProgramRun run = sandbox.run({"replay", path});
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(run.err.starts_with(path + ":")) << run.err;
  }
}

std::vector<std::string> malformed_traces() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(POOLPROOF_SOURCE_DIR "/tests/malformed")) {
    if (entry.path().extension() == ".trace") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_one_message(const ProgramRun& run, const std::string& path) {
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_EQ(run.out, "");
  // "PATH:LINE:COLUMN: text", then at most the line and a caret.
  const std::string rest = run.err.substr(std::min(path.size(), run.err.size()));
  EXPECT_TRUE(run.err.starts_with(path)) << run.err;
  EXPECT_TRUE(std::regex_search(rest, std::regex("^(:[0-9]+){1,2}: [^\n]+\n"))) << run.err;
  EXPECT_EQ(run.err.find(path, 1), std::string::npos) << run.err;
  EXPECT_LE(std::count(run.err.begin(), run.err.end(), '\n'), 3) << run.err;
}

TEST(Replay, MalformedFilesGetOneMessage) {
  const Sandbox sandbox;
  const std::vector<std::string> paths = malformed_traces();
  ASSERT_GT(paths.size(), 50U);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    expect_one_message(sandbox.run({"replay", path, "--json", "r.json", "--junit", "r.xml"}), path);
    expect_one_message(sandbox.run({"shrink", path, "--impl", "B15-group-end", "-o", "OUT"}), path);
    EXPECT_TRUE(sandbox.files().empty());
  }
}

TEST(Shrink, ToTheOpsThatMatter) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  const ProgramRun run = sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end", "-o", "small.trace"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(std::regex_search(run.out, std::regex("^13 to [2-6] ops in [0-9]+ runs: RING_POOL_IDLE at op ")))
      << run.out;
  EXPECT_NE(run.out.find("poolproof replay small.trace --impl B15-group-end\n"), std::string::npos) << run.out;
  EXPECT_EQ(sandbox.run({"replay", "small.trace", "--impl", "B15-group-end"}).status, 1);
  EXPECT_EQ(sandbox.run({"replay", "small.trace"}).status, 0);
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"ring.trace", "small.trace"}));
}

TEST(Shrink, ToStdout) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"shrink", "-", "--impl", "B15-group-end", "-o", "-"}, {ring, {}});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(sandbox.run({"replay", "-", "--impl", "B15-group-end"}, {run.out, {}}).status, 1);
  EXPECT_NE(run.err.find("13 to "), std::string::npos) << run.err;
}

TEST(Shrink, LeavesNoFileWhenThereIsNothingToShrink) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  sandbox.write("caller.trace", double_free);
  const ProgramRun holds = sandbox.run({"shrink", "ring.trace", "--impl", "host", "-o", "OUT"});
  EXPECT_EQ(holds.status, 2);
  EXPECT_NE(holds.err.find("ring.trace holds on host, so there is nothing to shrink"), std::string::npos) << holds.err;
  const ProgramRun caller = sandbox.run({"shrink", "caller.trace", "--impl", "host", "-o", "OUT"});
  EXPECT_EQ(caller.status, 2);
  EXPECT_NE(caller.err.find("C1 is the caller's fault at op 4"), std::string::npos) << caller.err;
  const ProgramRun many = sandbox.run({"shrink", "ring.trace", "--impl", "mutants", "-o", "OUT"});
  EXPECT_EQ(many.status, 2);
  EXPECT_EQ(sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end"}).status, 2);
  EXPECT_EQ(sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end", "-o", "."}).status, 2);
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"caller.trace", "ring.trace"}));
}

TEST(Shrink, KeepsWhatIsNoRegularFile) {
  const Sandbox sandbox;
  sandbox.write("ring.trace", ring);
  EXPECT_EQ(sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end", "-o", "/dev/null"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  sandbox.write("target", "old");
  std::filesystem::create_symlink("target", sandbox.path("link"));
  EXPECT_EQ(sandbox.run({"shrink", "ring.trace", "--impl", "B15-group-end", "-o", "link"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(sandbox.path("link")));
  EXPECT_TRUE(sandbox.read("target").starts_with("# ") || sandbox.read("target").starts_with("poolproof 1"));
}

}  // namespace
}  // namespace poolproof
