// `poolproof import` and `poolproof explain`: what is printed and written, exit statuses, and that nothing is left
// behind.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::string head =
    R"({"poolproof_log": 1, "session": "a1b2", "file": 0, "n": 0, "class": "PagedTokenToKVPoolAllocator", )"
    R"("engine": "sglang 0.5.23", "geometry": {"layout": "paged", "page": 4, "full": 32}, "fresh": true})"
    "\n";
const std::string lend =
    R"({"n": 0, "t": 1, "call": "alloc_extend", "prefix_lens": [0], "seq_lens": [6], "last_locs": [[-1, 1]], )"
    R"("locs": [[4, 6]], "full": 24})"
    "\n";
const std::string give = R"({"n": 1, "t": 2, "call": "free", "locs": [[4, 6]], "full": 32})"
                         "\n";
const std::string good = head + lend + give;
const std::string over_credited = head + lend +
                                  R"({"n": 1, "t": 2, "call": "free", "locs": [[4, 6]], "full": 36})"
                                  "\n";
const std::string freed_twice = good + R"({"n": 2, "t": 3, "call": "free", "locs": [[8, 2]], "full": 36})"
                                       "\n";

TEST(Import, WritesATraceThatHolds) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", good);
  const ProgramRun run = sandbox.run({"import", "a.jsonl", "-o", "a.trace"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  expect_golden("import-good.txt", run.out);
  expect_golden("import-good-trace.txt", sandbox.read("a.trace"));
  EXPECT_EQ(sandbox.run({"replay", "a.trace"}).out, "holds: 2 ops on host\n");
  EXPECT_EQ(sandbox.files(), (std::vector<std::string>{"a.jsonl", "a.trace"}));
}

TEST(Import, AnAllocatorsFault) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", over_credited);
  const ProgramRun run = sandbox.run({"import", "a.jsonl", "-o", "a.trace", "--json", "a.json"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("import-allocators-fault.txt", run.out);
  const Json json = Json::parse(sandbox.read("a.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "import");
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_EQ(json["calls"], 2);
  EXPECT_EQ(json["pool"], "layout=paged page=4 full=8p");
  EXPECT_EQ(json["counts"]["violation"], 1);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["id"], "AVAIL_LE_SIZE");
  EXPECT_EQ(finding["file"], "a.jsonl");
  EXPECT_EQ(finding["line"], 3);
  EXPECT_EQ(finding["n"], 1);
  EXPECT_EQ(finding["op"], 2);
  EXPECT_EQ(finding["recorded"], "36");
}

TEST(Import, ACallersFault) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", freed_twice);
  const ProgramRun run = sandbox.run({"import", "a.jsonl", "-o", "a.trace"});
  EXPECT_EQ(run.status, 1) << run.err;
  expect_golden("import-callers-fault.txt", run.out);
  const ProgramRun replay = sandbox.run({"replay", "a.trace"});
  EXPECT_EQ(replay.status, 1);
  EXPECT_NE(replay.out.find("C1"), std::string::npos) << replay.out;
}

TEST(Import, FromStdinToStdout) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"import", "-", "-o", "-"}, {good, {}});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.out.starts_with("# imported from <stdin>\n")) << run.out;
  EXPECT_NE(run.err.find("imported 2 calls"), std::string::npos) << run.err;
  const ProgramRun piped = sandbox.shell("\"$POOLPROOF\" import - -o - < /dev/null");
  EXPECT_EQ(piped.status, 2);
  EXPECT_EQ(piped.out, "");
}

TEST(Import, ZstdThatIsCutOff) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", good);
  sandbox.write("b.jsonl", R"({"n": 2, "t": 3, "call": "clear"})"
                           "\n");
  if (sandbox.shell("zstd -q a.jsonl b.jsonl").status != 0) {
    GTEST_SKIP() << "no zstd program to pack with";
  }
  const ProgramRun run = sandbox.shell(
      "{ cat a.jsonl.zst; head -c 20 b.jsonl.zst; } > cut.jsonl.zst; \"$POOLPROOF\" import cut.jsonl.zst -o a.trace");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("cut.jsonl.zst is cut off at its end"), std::string::npos) << run.out;
  EXPECT_EQ(sandbox.run({"replay", "a.trace"}).out, "holds: 2 ops on host\n");
}

TEST(Import, AMalformedLogLeavesNothing) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", good + "{\"n\": 2, \"call\": \"fre\"}\n");
  const ProgramRun run = sandbox.run({"import", "a.jsonl", "-o", "a.trace", "--json", "a.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "a.jsonl:4: no call is named 'fre'; expected a call of docs/external.md, such as alloc_extend\n");
  EXPECT_EQ(sandbox.files(), std::vector<std::string>{"a.jsonl"});
}

TEST(Import, Misuse) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", good);
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"import"},
           {"import", "a.jsonl"},
           {"import", "none.jsonl", "-o", "a.trace"},
           {"import", "-", "-", "-o", "a.trace"},
           {"import", ".", "-o", "a.trace"},
           {"import", "a.jsonl", "-o", "a.jsonl"},
           {"import", "a.jsonl", "-o", "x", "--json", "x"},
           {"import", "a.jsonl", "-o", "none/a.trace"},
       }) {
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
  EXPECT_EQ(sandbox.files(), std::vector<std::string>{"a.jsonl"});
  EXPECT_EQ(sandbox.read("a.jsonl"), good);
}

TEST(Import, AFullDiskIsAnError) {
  const Sandbox sandbox;
  sandbox.write("a.jsonl", good);
  const ProgramRun run = sandbox.shell("\"$POOLPROOF\" import a.jsonl -o /dev/full");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("cannot write /dev/full: "), std::string::npos) << run.err;
}

TEST(Explain, FromTheCommandLineAndStdin) {
  const Sandbox sandbox;
  const std::string message = "AssertionError: free groups cannot be nested";
  const ProgramRun run = sandbox.run({"explain", message});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("C6; like B22"), std::string::npos) << run.out;
  EXPECT_EQ(sandbox.run({"explain", "-"}, {message, {}}).out, run.out);
}

TEST(Explain, PageSize) {
  const Sandbox sandbox;
  const std::string message = "[full] total=64, available=32, evictable=0";
  EXPECT_NE(sandbox.run({"explain", message}).out.find("--page N"), std::string::npos);
  EXPECT_NE(sandbox.run({"explain", message, "--page", "16"}).out.find("32 tokens, 2 pages of 16"), std::string::npos);
  EXPECT_EQ(sandbox.run({"explain", message, "--page", "0"}).status, 2);
}

TEST(Explain, UnknownMessages) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"explain", "CUDA error: an illegal memory access was encountered"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  expect_golden("explain-unknown.txt", run.err);
}

}  // namespace
}  // namespace poolproof
