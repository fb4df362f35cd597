// The program as a whole: help, version, list, demo, pipes, and that the reference is true to --help.
#include "tests/cli/program.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> commands{"check", "simulate", "replay",  "shrink", "import", "explain",
                                        "list",  "saver",    "explore", "zoo",    "demo",   "worker"};

TEST(Program, WithoutArgumentsItHelps) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  for (const std::string& command : commands) {
    EXPECT_NE(run.err.find("  " + command), std::string::npos) << run.err;
  }
  EXPECT_EQ(sandbox.run({"--help"}).out, run.err);
}

TEST(Program, Version) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(std::regex_match(run.out, std::regex("poolproof [0-9]+\\.[0-9]+\\.[0-9]+\n"))) << run.out;
}

TEST(Program, HelpSaysTheExitStatuses) {
  const Sandbox sandbox;
  for (const std::string& command : commands) {
    const ProgramRun run = sandbox.run({command, "--help"});
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.out.find("Exit status: "), std::string::npos) << run.out;
    expect_golden("help-" + command + ".txt", run.out);
  }
}

std::set<std::string> flags_in(const std::string& text) {
  static const std::regex flag("--[a-z][a-z-]*");
  std::set<std::string> flags;
  for (std::sregex_iterator it(text.begin(), text.end(), flag); it != std::sregex_iterator(); ++it) {
    flags.insert(it->str());
  }
  return flags;
}

/// The part of the reference under "## `poolproof COMMAND`".
std::string section(const std::string& reference, const std::string& command) {
  const std::size_t begin = reference.find("## `poolproof " + command);
  if (begin == std::string::npos) {
    return {};
  }
  return reference.substr(begin, reference.find("\n## ", begin) - begin);
}

TEST(Program, ReferenceNamesTheFlagsOfHelp) {
  const Sandbox sandbox;
  const std::string reference = file_text(POOLPROOF_SOURCE_DIR "/docs/reference.md");
  for (const std::string& command : commands) {
    std::set<std::string> helped = flags_in(sandbox.run({command, "--help"}).out);
    helped.erase("--help");
    EXPECT_EQ(flags_in(section(reference, command)), helped) << command;
  }
}

TEST(List, EachKind) {
  const Sandbox sandbox;
  EXPECT_TRUE(sandbox.run({"list", "impls"}).out.starts_with("host "));
  EXPECT_NE(sandbox.run({"list", "mutants"}).out.find("sgl-project/sglang#38571"), std::string::npos);
  EXPECT_NE(sandbox.run({"list", "geometries"}).out.find("layout=hybrid"), std::string::npos);
  expect_golden("list-invariants.txt", sandbox.run({"list", "invariants"}).out);
  expect_golden("list-rules.txt", sandbox.run({"list", "rules"}).out);
  expect_golden("list-models.txt", sandbox.run({"list", "models"}).out);
}

TEST(List, NamesAndJsonAgree) {
  const Sandbox sandbox;
  for (const std::string what : {"impls", "mutants", "invariants", "geometries", "rules", "models"}) {
    const ProgramRun names = sandbox.run({"list", what, "--names"});
    EXPECT_EQ(names.status, 0);
    const Json json = Json::parse(sandbox.run({"list", what, "--json", "-"}).out);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["what"], what);
    std::string joined;
    for (const Json& item : json["items"]) {
      joined += item["name"].get<std::string>() + "\n";
    }
    EXPECT_FALSE(joined.empty());
    EXPECT_EQ(names.out, joined);
  }
}

TEST(List, Misuse) {
  const Sandbox sandbox;
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{"list"}, {"list", "impl"}}) {
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

TEST(Pipes, AReaderThatGoesAwayIsNoError) {
  const Sandbox sandbox;
  // `true` reads nothing, so the second write at the latest finds the pipe closed.
  const ProgramRun run =
      sandbox.shell("{ sleep 0.2; \"$POOLPROOF\" check --impl mutants --traces 400; echo $? > status; } | true");
  EXPECT_EQ(run.err, "");
  for (int tries = 0; tries < 600 && sandbox.read("status").empty(); ++tries) {
    sandbox.shell("sleep 0.1");
  }
  EXPECT_EQ(sandbox.read("status"), "1\n");
}

TEST(Pipes, AFullDiskIsAnError) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.shell("\"$POOLPROOF\" list invariants > /dev/full");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("cannot write the results: "), std::string::npos) << run.err;
}

TEST(Demo, CatchesAndExplains) {
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run({"demo"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(run.err, "");
  for (const char* part :
       {"sgl-project/sglang#38571", "sgl-project/sglang#36135", "RING_POOL_IDLE violated",
        "poolproof replay poolproof-out/B15-group-end-RING_POOL_IDLE.trace --impl B15-group-end", "What to do next"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(
      sandbox.run({"replay", "poolproof-out/B15-group-end-RING_POOL_IDLE.trace", "--impl", "B15-group-end"}).status, 1);
}

}  // namespace
}  // namespace poolproof
