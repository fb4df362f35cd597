#include "props/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "impl/host/host.hpp"
#include "model/trace_text.hpp"

namespace poolproof {
namespace {

using Made = Result<std::unique_ptr<Allocator>, std::string>;

/// The host twin under another name, which tells `made` each pool that it is built for.
ImplInfo recording_host(std::vector<std::string>& made) {
  ImplInfo info;
  info.name = "recording";
  info.supports = [](const Geometry&) { return true; };
  info.make = [&made](const Geometry& geometry) {
    made.push_back(to_string(geometry));
    return make_host(geometry);
  };
  return info;
}

ImplInfo host_like(const std::string& name, std::function<Made(const Geometry&)> make) {
  ImplInfo info;
  info.name = name;
  info.supports = [](const Geometry&) { return true; };
  info.make = std::move(make);
  return info;
}

const ImplInfo& first_mutant() {
  const auto impls = builtin_impls();
  return *std::find_if(impls.begin(), impls.end(), [](const ImplInfo& impl) { return impl.kind == ImplKind::mutant; });
}

CampaignOptions small_campaign(std::vector<const ImplInfo*> impls) {
  CampaignOptions options;
  options.impls = std::move(impls);
  options.traces = 60;
  options.ops = 40;
  options.seed = 7;
  return options;
}

TEST(Campaign, HostHoldsAndTheCanaryIsCaught) {
  const CampaignReport report = run_campaign(small_campaign({find_impl("host")}));
  EXPECT_TRUE(report.canary_caught) << report.canary_says;
  ASSERT_EQ(report.outcomes.size(), 1U);
  const ImplOutcome& outcome = report.outcomes[0];
  EXPECT_FALSE(outcome.finding);
  EXPECT_EQ(outcome.could_not_run, "");
  EXPECT_EQ(outcome.traces, 60U);
  EXPECT_EQ(outcome.ops, 60U * 40U);
  EXPECT_EQ(outcome.coverage.ops(), outcome.ops);
  EXPECT_FALSE(report.stopped);
}

TEST(Campaign, SameSeedSamePools) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::vector<std::string> other;
  const ImplInfo a = recording_host(first);
  const ImplInfo b = recording_host(second);
  const ImplInfo c = recording_host(other);
  run_campaign(small_campaign({&a}));
  run_campaign(small_campaign({&b}));
  CampaignOptions options = small_campaign({&c});
  options.seed = 8;
  run_campaign(options);
  EXPECT_EQ(first.size(), 60U);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(Campaign, ShardsPartitionTheTraces) {
  std::vector<std::string> whole;
  const ImplInfo impl = recording_host(whole);
  run_campaign(small_campaign({&impl}));
  constexpr std::uint32_t shards = 4;
  std::vector<std::vector<std::string>> parts(shards);
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const ImplInfo part = recording_host(parts[shard]);
    CampaignOptions options = small_campaign({&part});
    options.shard_index = shard;
    options.shard_count = shards;
    run_campaign(options);
  }
  std::vector<std::string> merged;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ASSERT_LT(i / shards, parts[i % shards].size());
    merged.push_back(parts[i % shards][i / shards]);
  }
  EXPECT_EQ(merged, whole);
}

TEST(Campaign, PinnedPoolIsNotVaried) {
  std::vector<std::string> made;
  const ImplInfo impl = recording_host(made);
  CampaignOptions options = small_campaign({&impl});
  options.geometries = {named_geometries().front()};
  options.vary = false;
  run_campaign(options);
  ASSERT_EQ(made.size(), 60U);
  EXPECT_EQ(std::count(made.begin(), made.end(), to_string(named_geometries().front().geometry)), 60);
}

TEST(Campaign, NothingIsRunWhenTheCanaryIsMissed) {
  CampaignOptions options = small_campaign({find_impl("host")});
  options.canary = find_impl("host");
  const CampaignReport report = run_campaign(options);
  EXPECT_FALSE(report.canary_caught);
  EXPECT_NE(report.canary_says, "");
  EXPECT_TRUE(report.outcomes.empty());
}

TEST(Campaign, EveryMutantsFindingIsTheTraceOfItsIndex) {
  for (const ImplInfo& mutant : builtin_impls()) {
    if (mutant.kind != ImplKind::mutant) {
      continue;
    }
    SCOPED_TRACE(mutant.name);
    CampaignOptions options;
    options.impls = {&mutant};
    options.seed = 3;
    const CampaignReport report = run_campaign(options);
    ASSERT_EQ(report.outcomes.size(), 1U);
    const std::optional<Finding>& finding = report.outcomes[0].finding;
    ASSERT_TRUE(finding) << report.outcomes[0].could_not_run;
    EXPECT_TRUE(finding->reproduced);
    EXPECT_LE(finding->shrunk.trace.ops.size(), finding->original.ops.size());
    EXPECT_EQ(finding->shrunk.verdict.cause, finding->original_verdict.cause);
    EXPECT_EQ(finding->original.ops.size(), finding->original_verdict.op);

    Trace whole = campaign_trace(options, finding->trace_index);
    ASSERT_GE(whole.ops.size(), finding->original.ops.size());
    whole.ops.resize(finding->original.ops.size());
    EXPECT_EQ(whole.geometry, finding->original.geometry);
    EXPECT_EQ(whole.ops, finding->original.ops);
  }
}

TEST(Campaign, UnsupportedPoolsDoNotCount) {
  std::vector<std::string> made;
  ImplInfo impl = recording_host(made);
  impl.supports = [](const Geometry& geometry) { return geometry.layout == Layout::token; };
  const CampaignReport report = run_campaign(small_campaign({&impl}));
  EXPECT_EQ(report.outcomes[0].traces, 60U);
  EXPECT_GT(report.outcomes[0].skipped, 0U);
  EXPECT_EQ(std::count_if(made.begin(), made.end(),
                          [](const std::string& pool) { return pool.find("layout=token") != std::string::npos; }),
            60);
}

TEST(Campaign, SupportingNothingIsSaid) {
  std::vector<std::string> made;
  ImplInfo impl = recording_host(made);
  impl.supports = [](const Geometry&) { return false; };
  const CampaignReport report = run_campaign(small_campaign({&impl}));
  EXPECT_NE(report.outcomes[0].could_not_run.find("supports none"), std::string::npos);
  EXPECT_TRUE(made.empty());
}

TEST(Campaign, WhatCannotBeBuiltIsSaid) {
  const ImplInfo impl = host_like("broken", [](const Geometry&) -> Made { return std::string("no device"); });
  const CampaignReport report = run_campaign(small_campaign({&impl}));
  EXPECT_NE(report.outcomes[0].could_not_run.find("no device"), std::string::npos);
  EXPECT_FALSE(report.outcomes[0].finding);
}

/// A token pool whose counters cannot be read.
class Unreadable final : public SingleAllocator {
 public:
  using SingleAllocator::SingleAllocator;
  [[nodiscard]] std::unique_ptr<Allocator> clone() const override { return nullptr; }
  Answer gauges(Gauges& /*out*/) override { return Answer::failed; }
  [[nodiscard]] std::string failure() const override { return "the worker died"; }
};

TEST(Campaign, AFailedCallIsNotAViolation) {
  ImplInfo impl = host_like("dying", [](const Geometry& geometry) -> Made {
    return std::unique_ptr<Allocator>(std::make_unique<Unreadable>(geometry));
  });
  impl.supports = [](const Geometry& geometry) { return geometry.layout == Layout::token; };
  const CampaignReport report = run_campaign(small_campaign({&impl}));
  EXPECT_FALSE(report.outcomes[0].finding);
  EXPECT_NE(report.outcomes[0].could_not_run.find("the worker died"), std::string::npos)
      << report.outcomes[0].could_not_run;
}

TEST(Campaign, AViolationThatDoesNotComeBackIsStillReported) {
  const ImplInfo& mutant = first_mutant();
  const CampaignReport before = run_campaign([&] {
    CampaignOptions options;
    options.impls = {&mutant};
    return options;
  }());
  ASSERT_TRUE(before.outcomes[0].finding);
  const std::uint64_t traces_to_fail = before.outcomes[0].traces;
  std::uint64_t built = 0;
  ImplInfo moody = mutant;
  moody.make = [&](const Geometry& geometry) -> Made {
    return ++built <= traces_to_fail ? mutant.make(geometry) : make_host(geometry);
  };
  CampaignOptions options;
  options.impls = {&moody};
  const CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.outcomes[0].finding);
  EXPECT_FALSE(report.outcomes[0].finding->reproduced);
  EXPECT_EQ(report.outcomes[0].finding->shrunk.trace.ops, report.outcomes[0].finding->original.ops);
}

TEST(Campaign, StopEndsARunAndTheNextOneBegins) {
  CampaignOptions options = small_campaign({find_impl("host"), &first_mutant()});
  options.traces = 0;
  std::uint64_t done = 0;
  std::vector<std::string> begun;
  options.progress = [&](const CampaignProgress& now) {
    done = now.traces_done;
    if (now.traces_done == 0) {
      begun.push_back(now.impl);
    }
  };
  options.stop = [&] { return done >= 5; };
  const CampaignReport report = run_campaign(options);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.outcomes[0].traces, 5U);
  EXPECT_EQ(begun, (std::vector<std::string>{"host", first_mutant().name}));
}

}  // namespace
}  // namespace poolproof
