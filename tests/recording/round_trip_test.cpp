// What an allocator was asked for, logged and imported, is a trace that asks the same: random traces make the way
// through a log and hold on the host twin, and a mutant's log tells its fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"
#include "tests/recording/import_text.hpp"
#include "tests/recording/log_writer.hpp"

namespace poolproof {
namespace {

/// Runs the trace on the implementation and answers its log. The run ends where lockstep finds the fault.
std::string log_of(const Trace& trace, const ImplInfo& impl) {
  std::string log;
  const ImplInfo logging{.name = impl.name,
                         .kind = impl.kind,
                         .source = {},
                         .mechanism = {},
                         .caught_by = {},
                         .supports = impl.supports,
                         .make = [&](const Geometry& geometry) -> Result<std::unique_ptr<Allocator>, std::string> {
                           auto inner = impl.make(geometry);
                           if (!inner) {
                             return inner.error();
                           }
                           return log_calls(std::move(inner).value(), geometry, log);
                         }};
  run_trace(trace, logging, {.census_every = 0});
  return log;
}

class RoundTrip : public testing::TestWithParam<NamedGeometry> {};

TEST_P(RoundTrip, HoldsOnHost) {
  const ImplInfo& host = *find_impl("host");
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomChoices choices(seed, 0);
    const Geometry geometry = vary_geometry(GetParam().geometry, choices);
    const Trace trace = generate(geometry, choices, 150);
    const std::string log = log_of(trace, host);
    const Imported imported = import_text(log);
    ASSERT_EQ(imported.fault, "") << log;
    EXPECT_FALSE(imported.report.findings.wrong())
        << "seed " << seed << "\n"
        << findings_text(imported) << imported.trace << print_trace(trace) << log;
    const auto lifted = parse_trace(imported.trace, "lifted");
    ASSERT_TRUE(lifted) << lifted.error().render() << imported.trace;
    EXPECT_EQ(lifted->ops.size(), imported.report.ops);
    const RunResult run = run_trace(*lifted, host, {.census_every = 0});
    EXPECT_FALSE(run.verdict) << "seed " << seed << " op " << run.verdict->op << " " << run.verdict->what << "\n"
                              << imported.trace;
    if (HasFailure()) {
      return;
    }
  }
}

// ---- logs of callers that do wrong

/// Drops, doubles and swaps lines of the log, and numbers its calls anew.
std::string scrambled(const std::string& log, Choices& choices) {
  std::vector<std::string> lines;
  std::istringstream in(log);
  std::string head;
  std::getline(in, head);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line.substr(line.find(",\"t\"")));
  }
  for (int changes = 0; changes < 3 && lines.size() > 2; ++changes) {
    const std::size_t at = choices.draw(lines.size() - 1);
    const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices.draw(3)) {
      case 0:
        lines.erase(place);
        break;
      case 1:
        lines.insert(place, lines[at]);
        break;
      default:
        std::swap(lines[at], lines[at + 1]);
    }
  }
  std::string text = head + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "{\"n\":" + std::to_string(i) + lines[i] + "\n";
  }
  return text;
}

/// The trace's first fault on host is the caller's, and it is the first one that import told with an op.
void expect_same_fault(const Imported& imported) {
  const auto lifted = parse_trace(imported.trace, "lifted");
  ASSERT_TRUE(lifted) << lifted.error().render() << imported.trace;
  const RunResult run = run_trace(*lifted, *find_impl("host"), {.census_every = 0});
  OpIndex told = 0;
  for (const LogFinding& finding : imported.report.findings.kept()) {
    if (finding.kind == LogFindingKind::caller_fault && finding.op != 0 && told == 0) {
      told = finding.op;
    }
  }
  EXPECT_EQ(run.verdict ? run.verdict->op : 0, told) << findings_text(imported) << imported.trace;
  EXPECT_TRUE(!run.verdict || run.verdict->caller_fault()) << run.verdict->what << imported.trace;
}

TEST_P(RoundTrip, ScrambledLogsBlameAsReplayDoes) {
  std::uint64_t faults = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomChoices choices(seed, 2);
    const Geometry geometry = vary_geometry(GetParam().geometry, choices);
    const std::string log = log_of(generate(geometry, choices, 150), *find_impl("host"));
    const Imported imported = import_text(scrambled(log, choices));
    ASSERT_EQ(imported.fault, "");
    expect_same_fault(imported);
    faults += imported.report.findings.count(LogFindingKind::caller_fault);
    if (HasFailure()) {
      FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(faults, 0U);
}

INSTANTIATE_TEST_SUITE_P(Geometries, RoundTrip, testing::ValuesIn(named_geometries()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- logs of allocators that do wrong

/// Is this among what the mutant's logs are found wrong in? Looks at as many traces as that takes.
bool told(const ImplInfo& mutant, std::string_view id) {
  for (const NamedGeometry& named : named_geometries()) {
    if (!mutant.supports(named.geometry)) {
      continue;
    }
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      RandomChoices choices(seed, 1);
      const Trace trace = generate(vary_geometry(named.geometry, choices), choices, 120);
      if (!mutant.supports(trace.geometry)) {
        continue;
      }
      const Imported imported = import_text(log_of(trace, mutant));
      EXPECT_EQ(imported.fault, "");
      EXPECT_EQ(imported.report.findings.count(LogFindingKind::caller_fault), 0U) << findings_text(imported);
      EXPECT_TRUE(parse_trace(imported.trace, "lifted"));
      const std::vector<LogFinding>& kept = imported.report.findings.kept();
      if (std::any_of(kept.begin(), kept.end(), [&](const LogFinding& finding) { return finding.id == id; })) {
        return true;
      }
    }
  }
  return false;
}

struct Told {
  std::string mutant;
  std::string id;
};

/// Those whose fault shows in counts, answers or locs; what goes wrong in the mapping or in the data is not in a log.
const std::vector<Told>& told_by_logs() {
  static const std::vector<Told> all{{"B08", "AVAIL_LE_SIZE"},
                                     {"B11", "SENTINEL_UNTOUCHED"},
                                     {"B16", "AVAIL_EXACT"},
                                     {"B26", "AVAIL_EXACT"},
                                     {"B27", "AVAIL_EXACT"},
                                     {"B30", "ALL_OR_NOTHING"},
                                     {"B32", "ALL_OR_NOTHING"},
                                     {"B36", "NO_DOUBLE_LEND"},
                                     {"B41", "AVAIL_EXACT"},
                                     {"B46", "AVAIL_EXACT"},
                                     {"B61", "AVAIL_EXACT"},
                                     {"B94", "AVAIL_LE_SIZE"},
                                     {"batch-shares-page", "NO_DOUBLE_LEND"},
                                     {"canary", "AVAIL_EXACT"},
                                     {"credited-twice", "AVAIL_EXACT"},
                                     {"decode-opens-early", "PAGE_LAYOUT"},
                                     {"estimate-refuses", "SERVED_WHEN_FITS"},
                                     {"extend-skips-last-page", "PAGE_LAYOUT"},
                                     {"group-borrows-indices", "GROUP_DRAINS"},
                                     {"group-credits-early", "GROUP_DEFERS"},
                                     {"lost-page-counted", "SERVED_WHEN_FITS"},
                                     {"no-merge-when-short", "SERVED_WHEN_FITS"},
                                     {"restore-forgets-staged", "ROUND_TRIP"},
                                     {"slot-given-twice", "RING_SLOT_EXCLUSIVE"}};
  return all;
}

class MutantLog : public testing::TestWithParam<Told> {};

TEST_P(MutantLog, TellsTheFault) {
  const ImplInfo* mutant = find_impl(GetParam().mutant);
  ASSERT_NE(mutant, nullptr);
  EXPECT_TRUE(told(*mutant, GetParam().id));
}

INSTANTIATE_TEST_SUITE_P(Mutants, MutantLog, testing::ValuesIn(told_by_logs()), [](const auto& info) {
  std::string name = info.param.mutant;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace poolproof
