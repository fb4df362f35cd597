// The device twins under everything that the spine has: random traces on all geometries, loc for loc beside the host
// twin, and each fault in device code caught.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "impl/device/mutants/device_mutant.hpp"
#include "impl/host/host.hpp"
#include "impl/ranks.hpp"
#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"

namespace poolproof {
namespace {

std::string test_name(const std::string& impl) {
  std::string name = impl;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }, '_');
  return name;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) { return test_name(info.param); }

/// Nothing when it can run here, else the reason.
std::string missing(const ImplInfo& impl) { return impl.missing ? impl.missing().value_or("") : ""; }

Geometry pinned(Layout layout, Tokens page, std::int64_t pages, bool need_sort) {
  Geometry g;
  g.layout = layout;
  g.page = page;
  g.full = page * pages;
  g.reqs = 4;
  g.need_sort = need_sort;
  if (g.hybrid()) {
    g.swa = g.full;
  }
  if (g.sliding()) {
    g.window = 2 * page;
  }
  return g;
}

CampaignReport run(const ImplInfo& impl, std::uint64_t traces, std::uint64_t seed,
                   const std::vector<Geometry>& geometries = {}) {
  CampaignOptions options;
  options.impls = {&impl};
  options.traces = traces;
  options.seed = seed;
  // What is caught is looked at here, not how short it gets; a run on a pool of a million tokens is not a short one.
  options.shrink.max_evaluations = geometries.empty() ? 400 : 8;
  options.ops = geometries.empty() ? 120 : 60;
  for (const Geometry& g : geometries) {
    options.geometries.push_back({to_string(g), g});
    options.vary = false;
  }
  return run_campaign(options);
}

void expect_holds(const CampaignReport& report) {
  ASSERT_TRUE(report.canary_caught) << report.canary_says;
  const ImplOutcome& outcome = report.outcomes.at(0);
  EXPECT_EQ(outcome.could_not_run, "");
  if (outcome.finding) {
    FAIL() << cause_id(outcome.finding->shrunk.verdict.cause) << ": " << outcome.finding->shrunk.verdict.what << '\n'
           << print_trace(outcome.finding->shrunk.trace);
  }
}

class Twin : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string reason = missing(*find_impl(GetParam())); !reason.empty()) {
      GTEST_SKIP() << "skipped: " << reason;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, Twin, testing::Values("cuda-host", "cuda"), name_of);

TEST_P(Twin, HoldsOnAllGeometries) { expect_holds(run(*find_impl(GetParam()), 2000, 1)); }

TEST_P(Twin, HoldsWithCrowdsOfRequests) {
  expect_holds(run(*find_impl(GetParam()), 12, 1,
                   {pinned(Layout::token, 1, crowd_pages, false), pinned(Layout::hybrid, 1, crowd_pages, true),
                    pinned(Layout::hybrid, 4, crowd_pages, false)}));
}

/// Replicas of which the first is the host twin: each loc, each list and each entry must be the same.
TEST_P(Twin, LendsTheVeryLocsOfTheHostTwin) {
  ImplInfo pair = *find_impl(GetParam());
  pair.make_rank = [device = *find_impl(GetParam())](const Geometry& g, std::uint32_t rank) {
    return rank == 0 ? make_host(g) : device.make(g);
  };
  pair.ranks = 2;
  expect_holds(run(pair, 600, 7));
}

TEST_P(Twin, RanksAgree) {
  const ImplInfo& impl = *find_impl(GetParam());
  ASSERT_TRUE(impl.make_rank) << "replicas would all take the same orders";
  ImplInfo ranked = impl;
  ranked.ranks = 3;
  expect_holds(run(ranked, 200, 3));
}

// ---- faults in device code

/// Where a fault needs a pool that the named geometries do not have.
std::vector<Geometry> geometries_for(const ImplInfo& mutant) {
  if (mutant.name.ends_with("block-border-uncounted")) {
    return {pinned(Layout::token, 1, 2 * crowd_pages, false)};
  }
  if (mutant.name.ends_with("address-in-32-bits")) {
    return {pinned(Layout::paged, 256, crowd_pages, false)};
  }
  return {};
}

/// Those that end their process are tried in one of their own: breakdown_test.cpp.
bool is_fatal(const ImplInfo& impl) {
  const std::vector<DeviceMutant> all = device_mutants();
  return std::any_of(all.begin(), all.end(), [&impl](const DeviceMutant& mutant) {
    return mutant.ends_in && impl.name.ends_with(':' + mutant.facts.name);
  });
}

std::vector<std::string> faults_in_device_code() {
  std::vector<std::string> names;
  for (const ImplInfo& impl : device_mutant_impls()) {
    if (!impl.make_on && impl.make_rank && !is_fatal(impl)) {
      names.push_back(impl.name);
    }
  }
  return names;
}

std::vector<std::string> shared_faults() {
  std::vector<std::string> names;
  for (const ImplInfo& impl : device_mutant_impls()) {
    if (!impl.make_rank) {
      names.push_back(impl.name);
    }
  }
  return names;
}

class DeviceFault : public Twin {};
class SharedFault : public Twin {};

INSTANTIATE_TEST_SUITE_P(Zoo, DeviceFault, testing::ValuesIn(faults_in_device_code()), name_of);
INSTANTIATE_TEST_SUITE_P(Zoo, SharedFault, testing::ValuesIn(shared_faults()), name_of);

void expect_caught(const ImplInfo& impl, std::uint64_t seed, const std::vector<Geometry>& geometries) {
  const CampaignReport report = run(impl, 6000, seed, geometries);
  const ImplOutcome& outcome = report.outcomes.at(0);
  ASSERT_EQ(outcome.could_not_run, "");
  ASSERT_TRUE(outcome.finding) << impl.name << " survived seed " << seed;
  const Verdict& verdict = outcome.finding->shrunk.verdict;
  const auto* broken = std::get_if<Invariant>(&verdict.cause);
  ASSERT_NE(broken, nullptr) << cause_id(verdict.cause) << ": " << verdict.what;
  EXPECT_NE(std::find(impl.caught_by.begin(), impl.caught_by.end(), *broken), impl.caught_by.end())
      << impl.name << " is not said to break " << invariant_info(*broken).id << " (seed " << seed << ")";
}

TEST_P(DeviceFault, IsCaught) {
  const ImplInfo& impl = *find_impl(GetParam());
  const std::vector<Geometry> geometries = geometries_for(impl);
  for (std::uint64_t seed = 1; seed <= (geometries.empty() ? 5U : 1U); ++seed) {
    expect_caught(impl, seed, geometries);
  }
}

/// The faults of the spine, on device memory.
TEST_P(SharedFault, IsCaught) { expect_caught(*find_impl(GetParam()), 1, {}); }

TEST(DeviceFaults, AtLeastEightShowOnAGpuAndEachOnSomeDevice) {
  const std::vector<std::string> names = faults_in_device_code();
  EXPECT_GE(std::count_if(names.begin(), names.end(), [](const std::string& n) { return n.starts_with("cuda:"); }), 8);
  const auto on_host = [&](const std::string& fault) {
    return std::find(names.begin(), names.end(), "cuda-host:" + fault) != names.end();
  };
  for (const char* depends_on_order : {"counts-settled-early", "missing-stream-wait", "push-by-arrival"}) {
    EXPECT_TRUE(on_host(depends_on_order)) << depends_on_order;
  }
}

TEST(DeviceFaults, EveryMutantOfTheHostTwinHasAShareOnBothDevices) {
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant && impl.make_on) {
      EXPECT_NE(find_impl("cuda:" + impl.name), nullptr) << impl.name;
      EXPECT_NE(find_impl("cuda-host:" + impl.name), nullptr) << impl.name;
    }
  }
}

}  // namespace
}  // namespace poolproof
