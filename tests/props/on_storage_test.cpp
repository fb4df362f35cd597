// On another storage the allocators are the same: host lends the very same locs, mutants are caught by what catches
// them on the host and shrink to the same trace, and an error of the storage is a breakdown of the op that met it.

#include "impl/on_storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "tests/impl/watched_storage.hpp"
#include "tests/naive/recorder.hpp"

namespace poolproof {
namespace {

using poolproof::testing::StorageWatch;
using poolproof::testing::Watch;
using poolproof::testing::WatchedStorage;

/// The implementation with each allocator on a new storage; `prepare` says what breaks there.
template <typename Prepare>
ImplInfo watched(const ImplInfo& impl, Prepare prepare) {
  return on_storage(impl, "watched", [prepare]() -> Result<std::shared_ptr<const Storage>, std::string> {
    const Watch watch = std::make_shared<StorageWatch>();
    prepare(watch);
    return std::shared_ptr<const Storage>(std::make_shared<WatchedStorage>(watch));
  });
}

/// One allocator in lockstep, its calls written down.
class Watched {
 public:
  Watched(const ImplInfo& impl, const Geometry& geometry)
      : recorder_(std::move(impl.make(geometry)).value()), machine_(geometry), lockstep_(machine_, recorder_) {}

  std::optional<Verdict> start() { return lockstep_.start(); }
  std::optional<Verdict> step(const Op& op) {
    recorder_.forget();
    return lockstep_.step(op);
  }
  std::optional<Verdict> step_and_census(const Op& op) {
    std::optional<Verdict> verdict = step(op);
    return verdict ? verdict : lockstep_.census();
  }
  naive::Recorder& recorder() { return recorder_; }
  Machine& machine() { return machine_; }

 private:
  naive::Recorder recorder_;
  Machine machine_;
  Lockstep lockstep_;
};

void expect_same_calls(Watched& a, Watched& b) {
  const auto& mine = a.recorder().calls();
  const auto& theirs = b.recorder().calls();
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    ASSERT_EQ(mine[i].kind, theirs[i].kind);
    ASSERT_EQ(mine[i].args, theirs[i].args);
    ASSERT_EQ(mine[i].data, theirs[i].data) << "locs or stamps differ";
    ASSERT_EQ(mine[i].answer, theirs[i].answer);
  }
  ASSERT_EQ(a.recorder().last_gauges(), b.recorder().last_gauges());
}

void expect_same_state(Watched& a, Watched& b) {
  Census mine;
  Census theirs;
  ASSERT_EQ(a.recorder().census(mine), Answer::served);
  ASSERT_EQ(b.recorder().census(theirs), Answer::served);
  ASSERT_EQ(mine.full, theirs.full);
  ASSERT_EQ(mine.swa, theirs.swa);
  ASSERT_TRUE(std::equal(mine.mapping.begin(), mine.mapping.end(), theirs.mapping.begin(), theirs.mapping.end()));
  ASSERT_EQ(mine.free_slots, theirs.free_slots);
}

class OnStorage : public ::testing::TestWithParam<NamedGeometry> {};

TEST_P(OnStorage, HostLendsTheVerySameLocs) {
  const ImplInfo& host = *find_impl("host");
  const ImplInfo there = watched(host, [](const Watch&) {});
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomChoices choices(seed, 0);
    const Geometry geometry = vary_geometry(GetParam().geometry, choices);
    const Trace trace = generate(geometry, choices, 200);
    Watched here(host, geometry);
    Watched far(there, geometry);
    ASSERT_FALSE(here.start());
    ASSERT_FALSE(far.start());
    for (const Op& op : trace.ops) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(op_word_name(word_of(op))));
      ASSERT_FALSE(here.step(op));
      ASSERT_FALSE(far.step(op));
      expect_same_calls(here, far);
      expect_same_state(here, far);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<NamedGeometry>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, OnStorage, ::testing::ValuesIn(named_geometries()), name_of);

CampaignReport hunt(const ImplInfo& impl) {
  CampaignOptions options;
  options.impls = {&impl};
  options.traces = 6000;
  return run_campaign(options);
}

class SharedMutant : public ::testing::TestWithParam<const char*> {};

TEST_P(SharedMutant, IsCaughtThereAsOnTheHost) {
  const ImplInfo& impl = *find_impl(GetParam());
  const CampaignReport here = hunt(impl);
  const CampaignReport there = hunt(watched(impl, [](const Watch&) {}));
  ASSERT_TRUE(here.outcomes.at(0).finding);
  ASSERT_TRUE(there.outcomes.at(0).finding) << there.outcomes[0].could_not_run;
  const ShrinkResult& shrunk = there.outcomes[0].finding->shrunk;
  const auto* broken = std::get_if<Invariant>(&shrunk.verdict.cause);
  ASSERT_NE(broken, nullptr) << cause_id(shrunk.verdict.cause);
  EXPECT_NE(std::find(impl.caught_by.begin(), impl.caught_by.end(), *broken), impl.caught_by.end());
  EXPECT_EQ(print_trace(shrunk.trace), print_trace(here.outcomes[0].finding->shrunk.trace));
  EXPECT_EQ(there.outcomes[0].finding->impl, "watched:" + impl.name);
}

// Each kind of step that a mutant overrides, and each piece of state that one of them edits.
INSTANTIATE_TEST_SUITE_P(Zoo, SharedMutant,
                         ::testing::Values("B01", "B08", "B11", "B15-group-end", "B17", "B20", "B30", "B32", "B46",
                                           "B94", "clear-shifts-entry", "clear-zeroes-tail", "decode-opens-early",
                                           "kv-pair-swapped", "mapping-spills-over", "merge-without-sort",
                                           "restore-forgets-mapping", "restore-forgets-staged", "ring-row-mod-window",
                                           "canary"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class BrokenStorage : public ::testing::TestWithParam<std::string> {
 protected:
  static Trace trace() {
    const auto& named = named_geometries();
    const auto found = std::find_if(named.begin(), named.end(), [](const auto& n) { return n.name == GetParam(); });
    RandomChoices choices(3, 1);
    return found == named.end() ? Trace{} : generate(found->geometry, choices, 60);
  }
};

/// Runs the whole trace, with a census after each op; `after` is called after the start and after each op.
template <typename After>
std::optional<Verdict> run(Watched& twin, const Trace& trace, const After& after) {
  std::optional<Verdict> verdict = twin.start();
  after();
  for (const Op& op : trace.ops) {
    if (verdict) {
      break;
    }
    verdict = twin.step_and_census(op);
    after();
  }
  return verdict;
}

TEST_P(BrokenStorage, IsRaisedAtTheOpThatMetIt) {
  const Trace asked = trace();
  ASSERT_FALSE(asked.ops.empty()) << "no such pool";
  const ImplInfo& host = *find_impl("host");
  Watch watch;
  std::vector<std::uint64_t> calls_until;  // by op, from the start on
  Watched sound(watched(host, [&watch](const Watch& opened) { watch = opened; }), asked.geometry);
  const std::uint64_t to_build = watch->calls;
  ASSERT_FALSE(run(sound, asked, [&] { calls_until.push_back(watch->calls); }));
  ASSERT_GT(calls_until.back(), asked.ops.size());
  for (std::uint64_t call = 1; call <= calls_until.back() + 1; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const ImplInfo broken = watched(host, [call](const Watch& opened) { opened->break_call = call; });
    if (call <= to_build) {
      const auto made = broken.make(asked.geometry);
      ASSERT_FALSE(made.ok());
      EXPECT_NE(made.error().find("the device is gone"), std::string::npos) << made.error();
      continue;
    }
    Watched far(broken, asked.geometry);
    const std::optional<Verdict> verdict = run(far, asked, [] {});
    ASSERT_EQ(verdict.has_value(), call <= calls_until.back());
    if (verdict) {
      ASSERT_EQ(cause_id(verdict->cause), "RAISED");
      EXPECT_EQ(std::get<Breakdown>(verdict->cause).signature, "device gone");
      EXPECT_NE(verdict->what.find("the device is gone"), std::string::npos) << verdict->what;
      const auto met = std::lower_bound(calls_until.begin(), calls_until.end(), call) - calls_until.begin();
      ASSERT_EQ(verdict->op, static_cast<OpIndex>(met));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pools, BrokenStorage,
                         ::testing::Values("token", "paged-p4-sort", "hybrid-p4", "hybrid-p4-ring", "pure_swa"),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(BrokenStorageInACampaign, IsFoundAndShrunkLikeAnyOtherFault) {
  const ImplInfo broken =
      watched(*find_impl("host"), [](const Watch& watch) { watch->break_name = "Mapping::clear_pages"; });
  const CampaignReport report = hunt(broken);
  ASSERT_TRUE(report.outcomes.at(0).finding) << report.outcomes[0].could_not_run;
  const Finding& finding = *report.outcomes[0].finding;
  EXPECT_TRUE(finding.reproduced);
  EXPECT_EQ(cause_id(finding.shrunk.verdict.cause), "RAISED");
  EXPECT_LE(finding.shrunk.trace.ops.size(), 2U) << print_trace(finding.shrunk.trace);
}

}  // namespace
}  // namespace poolproof
