// SGLang's own allocators, of pinned releases: what docs/findings.md says of them is so, and with the fixes they hold.
// The releases are fetched by adapters/fetch_release.sh; where one is not there, its tests are skipped and say so.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/bridge/external.hpp"

namespace poolproof::testing {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path cache() {
  if (const std::string own = environment("POOLPROOF_CACHE"); !own.empty()) {
    return fs::path(own) / "sglang";
  }
  const std::string user = environment("XDG_CACHE_HOME");
  return (user.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(user)) / "poolproof" / "sglang";
}

/// An interpreter with PyTorch, or nothing.
std::string python() {
  const std::vector<std::string> candidates{environment("POOLPROOF_PYTHON"), "python3", "/usr/bin/python3"};
  for (const std::string& candidate : candidates) {
    if (!candidate.empty() && std::system((candidate + " -c 'import torch' >/dev/null 2>&1").c_str()) == 0) {
      return candidate;
    }
  }
  return {};
}

/// Empty when the release can be run; else why not.
std::string missing(const std::string& release) {
  if (!fs::exists(cache() / release)) {
    return "sglang " + release + " is not in " + cache().string() + "; adapters/fetch_release.sh " + release +
           " brings it";
  }
  return python().empty() ? "no python3 with PyTorch; Debian's package is python3-torch" : "";
}

std::string adapter(const std::string& release, const std::string& more = {}) {
  return "exec:" + python() + " '" POOLPROOF_SOURCE_DIR "/adapters/sglang_adapter.py' --sglang '" +
         (cache() / release).string() + "' " + more;
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The table of docs/findings.md: trace name -> release -> what it does.
std::map<std::string, std::map<std::string, std::string>> documented() {
  std::map<std::string, std::map<std::string, std::string>> table;
  std::vector<std::string> heads;
  std::istringstream lines(read(fs::path(POOLPROOF_SOURCE_DIR) / "docs" / "findings.md"));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) {
      cell.erase(0, cell.find_first_not_of(" `"));
      cell.erase(cell.find_last_not_of(" `") + 1);
      cells.push_back(cell);
    }
    if (cells.size() > 2 && cells[1] == "trace") {
      heads = cells;
    } else if (!heads.empty() && cells.size() == heads.size() && !cells[1].starts_with("---")) {
      for (std::size_t i = 2; i < cells.size(); ++i) {
        table[cells[1]][heads[i]] = cells[i];
      }
    } else if (cells.size() != heads.size()) {
      heads.clear();
    }
  }
  return table;
}

/// The cause's id, "holds", or "-" where the release has no such pool or call.
std::string outcome(const ExternalImpl& impl, const Trace& trace) {
  const RunResult run = run_and_pin(trace, impl.info);
  if (!run.build_error.empty()) {
    return run.build_error.find("offers no pool") != std::string::npos ? "-" : run.build_error;
  }
  if (!run.verdict) {
    return "holds";
  }
  const bool unoffered = run.verdict->what.find("does not offer") != std::string::npos;
  return unoffered ? "-" : std::string(cause_id(run.verdict->cause));
}

class Release : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) {
      GTEST_SKIP() << "skipped: " << why;
    }
  }
};

TEST_P(Release, DoesWhatTheFindingsSay) {
  const auto table = documented();
  ASSERT_FALSE(table.empty());
  const ExternalImpl impl = started(adapter(GetParam()), std::chrono::seconds(60));
  std::size_t traces = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(POOLPROOF_SOURCE_DIR) / "fuzz" / "findings")) {
    const std::string name = entry.path().stem().string();
    ASSERT_TRUE(table.contains(name)) << name << " is not in the table of docs/findings.md";
    ASSERT_TRUE(table.at(name).contains(GetParam())) << name;
    EXPECT_EQ(outcome(impl, parsed(read(entry.path()))), table.at(name).at(GetParam())) << name;
    ++traces;
  }
  EXPECT_EQ(traces, table.size()) << "docs/findings.md names a trace that is not there";
}

INSTANTIATE_TEST_SUITE_P(Sglang, Release, ::testing::Values("0.5.15", "0.5.23"), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(Findings, AllHoldOnTheHostTwin) {
  for (const auto& entry : fs::directory_iterator(fs::path(POOLPROOF_SOURCE_DIR) / "fuzz" / "findings")) {
    const RunResult run = run_and_pin(parsed(read(entry.path())), *find_impl("host"));
    EXPECT_FALSE(run.verdict.has_value()) << entry.path() << ": " << run.verdict->what;
  }
}

TEST(NewestRelease, HoldsOnEveryLayoutOnceTheFindingsAreFixed) {
  const std::string release = "0.5.23";
  if (const std::string why = missing(release); !why.empty()) {
    GTEST_SKIP() << "skipped: " << why;
  }
  const ExternalImpl impl =
      started(adapter(release, "--patch '" POOLPROOF_SOURCE_DIR "/adapters/patches/sglang_fixes.py'"),
              std::chrono::seconds(60));
  CampaignOptions options;
  options.impls = {&impl.info};
  options.traces = 170;
  const CampaignReport report = run_campaign(options);
  const ImplOutcome& outcome = report.outcomes.at(0);
  EXPECT_FALSE(outcome.finding.has_value()) << outcome.finding->shrunk.verdict.what << "\n"
                                            << print_trace(outcome.finding->shrunk.trace);
  EXPECT_EQ(outcome.could_not_run, "");
  EXPECT_GE(outcome.ops, 20'000U);
}

/// The newest release under the recorder, with generated traffic: a log to import.
class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing(release_); !why.empty()) {
      GTEST_SKIP() << "skipped: " << why;
    }
    folder_ = fs::path(::testing::TempDir()) / (std::string("recorded-") + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void record(int calls, const std::string& more = {}) const {
    const std::string command = python() + " '" POOLPROOF_SOURCE_DIR "/tests/adapters/traffic.py' --sglang '" +
                                (cache() / release_).string() + "' --calls " + std::to_string(calls) + " --record '" +
                                file("log") + "' " + more + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// The exit status of the program.
  [[nodiscard]] int program(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder_.string() + "' && '" POOLPROOF_BINARY "' " + arguments + " >out.txt 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  [[nodiscard]] std::string said() const { return read(folder_ / "out.txt"); }

  const std::string release_ = "0.5.23";
  fs::path folder_;
};

TEST_F(Recorded, WithoutAFaultTheLogImportsAndReplaysClean) {
  record(20'000);
  EXPECT_EQ(program("import log-* -o t.trace"), 0) << said();
  EXPECT_EQ(program("replay t.trace --impl host"), 0) << said();
}

TEST_F(Recorded, APlantedFaultIsFoundInTheLogAndShrunkToAFewOps) {
  const std::string plant = "--patch '" POOLPROOF_SOURCE_DIR "/tests/adapters/plants/forgets_last_page.py'";
  record(5'000, plant);
  EXPECT_EQ(program("import log-* -o t.trace"), 1) << said();
  EXPECT_NE(said().find("the allocator broke an invariant"), std::string::npos) << said();
  std::string impl = adapter(release_, plant);
  for (std::size_t at = impl.find('"'); at != std::string::npos; at = impl.find('"', at + 2)) {
    impl.insert(at, "\\");
  }
  EXPECT_EQ(program("shrink t.trace -o small.trace --impl \"" + impl + "\""), 0) << said();
  EXPECT_LE(parsed(read(folder_ / "small.trace")).ops.size(), 12U);
}

}  // namespace
}  // namespace poolproof::testing
