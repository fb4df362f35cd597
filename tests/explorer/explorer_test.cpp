// The explorer: it covers every sequence, its finding is the shortest, and its result hangs on nothing but scope and
// implementation.
#include "fuzz/explorer/explorer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "fuzz/explorer/shortest.hpp"
#include "impl/ranks.hpp"
#include "props/lockstep.hpp"
#include "tests/explorer/naive_explorer.hpp"

namespace poolproof {
namespace {

using testing::NaiveExplorer;

Scope scope(const std::string& text) {
  Result<Scope, std::string> parsed = scope_from(text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error());
  return parsed.ok() ? *parsed : Scope{};
}

ExploreResult run(const Scope& scope, const std::string& impl, ExploreOptions options = {}) {
  return explore(scope, *find_impl(impl), options);
}

const std::string paged = "layout=paged,page=2,full=2p,reqs=1,rows=2,positions=4,words=-backup-restore";

/// Scopes in which sequences of a few ops get somewhere, and which are small enough to go through them one by one.
std::vector<std::string> comparable_scopes() {
  return {
      "layout=token,full=2,reqs=1,rows=2,positions=2,batch=2",
      "layout=token,full=2,need_sort=1,rows=2,positions=2,batch=1",
      "layout=paged,page=2,full=2p,rows=2,positions=3,batch=1",
      "layout=pure_swa,full=2,window=1,reqs=1,rows=2,positions=2,batch=1",
      "layout=hybrid,page=1,full=2,swa=2,window=1,reqs=1,rows=2,positions=2,batch=1",
      "layout=hybrid,page=2,full=2p,swa=2p,window=1,rows=1,positions=3,batch=1",
      "layout=hybrid,page=1,full=2,swa=2,ring=2,window=1,reqs=2,rows=2,positions=2,batch=1",
  };
}

TEST(Explorer, ReachesTheStatesThatAllSequencesReach) {
  for (const std::string& text : comparable_scopes()) {
    Scope small = scope(text);
    constexpr std::uint32_t depth = 3;
    const std::size_t all = NaiveExplorer(small, *find_impl("host")).states(depth).size();
    small.depth = depth;
    const ExploreResult result = run(small, "host");
    EXPECT_EQ(result.end, ExploreEnd::depth) << text << result.error;
    EXPECT_EQ(result.states, all) << text;
    EXPECT_EQ(std::accumulate(result.layers.begin(), result.layers.end(), std::uint64_t{0}), all) << text;
  }
}

TEST(Explorer, ItsFindingIsTheShortestThereIs) {
  constexpr std::size_t depth = 3;
  std::size_t found = 0;
  for (const std::string& text : comparable_scopes()) {
    Scope small = scope(text);
    for (const ImplInfo& impl : builtin_impls()) {
      if (impl.kind == ImplKind::real || impl.memory || !impl.supports(small.geometry)) {
        continue;
      }
      const ImplInfo& ranked = with_ranks(impl, 1);
      small.depth = depth;
      const ExploreResult result = explore(small, ranked, {});
      small.depth = 0;
      const std::optional<std::size_t> shortest = NaiveExplorer(small, ranked).shortest(depth);
      ASSERT_EQ(result.end, shortest ? ExploreEnd::violated : ExploreEnd::depth) << impl.name << " in " << text;
      if (shortest) {
        EXPECT_EQ(result.trace.ops.size(), *shortest) << impl.name << " in " << text;
        const RunResult again = run_trace(result.trace, ranked, {.census_every = 1});
        ASSERT_TRUE(again.verdict) << impl.name << " in " << text;
        EXPECT_EQ(cause_id(again.verdict->cause), cause_id(result.verdict->cause)) << impl.name << " in " << text;
        ++found;
      }
    }
  }
  EXPECT_GT(found, 60U);
}

TEST(Explorer, TheNumberOfThreadsDoesNotCount) {
  const ExploreResult one = run(scope(paged), "host", {.threads = 1});
  EXPECT_EQ(one.end, ExploreEnd::exhausted);
  for (const std::uint32_t threads : {2U, 3U, 8U}) {
    const ExploreResult many = run(scope(paged), "host", {.threads = threads});
    EXPECT_EQ(many.digest, one.digest) << threads;
    EXPECT_EQ(many.layers, one.layers) << threads;
    EXPECT_EQ(many.transitions, one.transitions) << threads;
    EXPECT_EQ(many.refused, one.refused) << threads;
    EXPECT_EQ(many.sequences, one.sequences) << threads;
  }
}

TEST(Explorer, TheFindingIsTheSameWithAnyNumberOfThreads) {
  const Scope ring = scope("layout=hybrid,page=1,full=2,swa=2,ring=2,window=1,reqs=2,rows=2,positions=2,batch=1");
  const ExploreResult one = run(ring, "B17", {.threads = 1});
  ASSERT_EQ(one.end, ExploreEnd::violated);
  EXPECT_EQ(one.trace.ops.size(), 7U);
  const ExploreResult four = run(ring, "B17", {.threads = 4});
  EXPECT_EQ(four.trace.ops, one.trace.ops);
  EXPECT_EQ(four.transitions, one.transitions);
}

/// The kernels' twin has other lists in other memory, and the same states.
TEST(Explorer, BothTwinsHaveTheSameStates) {
  const Scope small = scope("layout=hybrid,page=2,full=2p,swa=2p,window=2,rows=2,positions=3,batch=1,depth=5");
  const ExploreResult host = run(small, "host");
  const ExploreResult kernels = run(small, "cuda-host");
  EXPECT_EQ(host.end, ExploreEnd::depth);
  EXPECT_EQ(kernels.end, ExploreEnd::depth);
  EXPECT_EQ(kernels.layers, host.layers);
  EXPECT_EQ(kernels.transitions, host.transitions);
  EXPECT_EQ(kernels.refused, host.refused);
}

TEST(Explorer, AtALimitItSaysWhichDepthIsComplete) {
  const ExploreResult whole = run(scope(paged), "host");
  const ExploreResult part = run(scope(paged), "host", {.most_states = 1000});
  EXPECT_EQ(part.end, ExploreEnd::memory);
  ASSERT_LT(part.layers.size(), whole.layers.size());
  EXPECT_EQ(part.depth + 1, part.layers.size());
  EXPECT_TRUE(std::equal(part.layers.begin(), part.layers.end(), whole.layers.begin()));
  EXPECT_LE(part.states, 1000U);
  Scope shallow = scope(paged);
  shallow.depth = part.depth;
  const ExploreResult same = run(shallow, "host");
  EXPECT_EQ(same.end, ExploreEnd::depth);
  EXPECT_EQ(same.digest, part.digest);
  EXPECT_EQ(same.transitions, part.transitions);
  EXPECT_EQ(same.sequences, part.sequences);

  const ExploreResult tight = run(scope(paged), "host", {.memory_bytes = 1});
  EXPECT_EQ(tight.end, ExploreEnd::memory);
  EXPECT_EQ(tight.depth, 0U);
}

TEST(Explorer, StopsWhenAsked) {
  const ExploreResult result = run(scope(paged), "host", {.stop = [] { return true; }});
  EXPECT_EQ(result.end, ExploreEnd::stopped);
  EXPECT_EQ(result.depth, 0U);
  EXPECT_EQ(result.states, 1U);
}

TEST(Explorer, SaysHowFarItIs) {
  std::vector<ExploreProgress> seen;
  const ExploreResult result =
      run(scope(paged), "host", {.progress = [&](const ExploreProgress& now) { seen.push_back(now); }});
  ASSERT_EQ(seen.size(), result.layers.size());  // each layer is below the size of a round
  EXPECT_EQ(seen.back().states, result.states);
  EXPECT_EQ(seen.back().layer_total, result.layers.back());
  EXPECT_GT(seen.back().bytes, 0U);
}

TEST(Explorer, AStateTakesLittleMemory) {
  const ExploreResult result = run(*find_scope("hybrid-tiny"), "host");
  EXPECT_EQ(result.end, ExploreEnd::exhausted);
  EXPECT_GT(result.states, 100'000U);
  EXPECT_LE(result.bytes, 40 * result.states);
}

/// Page 0 stands in the list of a pool that nothing was done to yet.
TEST(Explorer, AFaultOfTheFreshAllocatorTakesNoOp) {
  const ExploreResult result = run(scope(paged), "B11");
  ASSERT_EQ(result.end, ExploreEnd::violated);
  EXPECT_TRUE(result.trace.ops.empty());
  EXPECT_EQ(cause_id(result.verdict->cause), "SENTINEL_UNTOUCHED");
}

TEST(Explorer, WhatCannotBeExploredIsSaid) {
  EXPECT_NE(run(scope(paged), "B20").error.find("B20 does not support the pool"), std::string::npos);
  Scope none = scope(paged);
  none.words.reset();
  EXPECT_NE(run(none, "host").error.find("a scope without ops"), std::string::npos);
  const Scope large = scope("layout=hybrid,page=1,full=8,swa=8,window=4,rows=4,positions=16,batch=2");
  EXPECT_NE(run(large, "host").error.find("more ops than can be numbered"), std::string::npos);

  ImplInfo no_copy = *find_impl("host");
  no_copy.name = "no-copy";
  no_copy.make = [](const Geometry&) -> Result<std::unique_ptr<Allocator>, std::string> {
    return std::string("it is out of order");
  };
  EXPECT_EQ(explore(scope(paged), no_copy, {}).error, "it is out of order");
}

TEST(Explorer, TheHuntingScopesFindShortTraces) {
  const ImplInfo& b20 = *find_impl("B20");
  const Shortest shortest = shortest_trace(b20, hunting_scopes(), {.most_states = 20'000});
  ASSERT_TRUE(shortest.verdict);
  EXPECT_EQ(cause_id(shortest.verdict->cause), "GROUP_OWNERSHIP");
  EXPECT_EQ(shortest.trace.ops.size(), 3U);
  EXPECT_EQ(shortest.scope, "hybrid");
  EXPECT_FALSE(shortest_trace(*find_impl("host"), hunting_scopes(), {.most_states = 500}).verdict);
}

}  // namespace
}  // namespace poolproof
