// What the abstract state says as a trace goes on, and that features are numbered as promised.
#include "props/state_features.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "impl/host/host.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

/// Runs ops on the host twin and keeps the state behind the last one.
class Stage {
 public:
  explicit Stage(const Geometry& geometry)
      : machine_(geometry), host_(make_host(geometry).value()), lockstep_(machine_, *host_) {
    EXPECT_FALSE(lockstep_.start());
    features_.begin(machine_);
  }

  StateFeatures::Reached step(const Op& op) {
    const auto verdict = lockstep_.step(op);
    EXPECT_FALSE(verdict) << verdict->what;
    return features_.after(op, machine_, lockstep_.last_refused());
  }
  AbstractState after(const Op& op) {
    step(op);
    return features_.state();
  }

 private:
  Machine machine_;
  std::unique_ptr<Allocator> host_;
  Lockstep lockstep_;
  StateFeatures features_;
};

Geometry paged(bool need_sort) { return {.layout = Layout::paged, .page = 4, .full = 32, .need_sort = need_sort}; }

TEST(StateFeatures, FillIsToldByTheFreePages) {
  Stage stage(paged(false));
  EXPECT_EQ(stage.after(op::Extend{{{0, {0, 4}}}}).full_fill, 3);   // 7 of 8 free
  EXPECT_EQ(stage.after(op::Extend{{{0, {4, 16}}}}).full_fill, 2);  // 4
  EXPECT_EQ(stage.after(op::Extend{{{0, {16, 28}}}}).full_fill, 1);
  EXPECT_EQ(stage.after(op::Extend{{{0, {28, 32}}}}).full_fill, 0);
  EXPECT_EQ(stage.after(op::Free{Side::both, {{0, {0, 32}}}}).full_fill, 4);
}

TEST(StateFeatures, StagedPagesWaitForALendingThatRunsShort) {
  Stage stage(paged(true));
  stage.step(op::Extend{{{0, {0, 16}}, {1, {0, 4}}}});
  EXPECT_EQ(stage.after(op::Free{Side::both, {{1, {0, 4}}}}).staged, 1);
  EXPECT_EQ(stage.after(op::Free{Side::both, {{0, {8, 16}}}}).staged, 2);
  EXPECT_EQ(stage.after(op::Extend{{{1, {0, 12}}}}).staged, 2);  // the three that were never lent are enough
  EXPECT_EQ(stage.after(op::Extend{{{1, {12, 16}}}}).staged, 0);
  Stage unsorted(paged(false));
  unsorted.step(op::Extend{{{0, {0, 4}}}});
  EXPECT_EQ(unsorted.after(op::Free{Side::both, {{0, {0, 4}}}}).staged, 0);
}

TEST(StateFeatures, DeferredPagesOfAnOpenGroup) {
  Stage stage(paged(false));
  stage.step(op::Extend{{{0, {0, 16}}}});
  EXPECT_EQ(stage.after(op::GroupBegin{}).deferred, 1);
  EXPECT_EQ(stage.after(op::Free{Side::both, {{0, {12, 16}}}}).deferred, 2);
  EXPECT_EQ(stage.after(op::Free{Side::both, {{0, {8, 12}}}}).deferred, 3);
  EXPECT_EQ(stage.after(op::GroupEnd{}).deferred, 0);
}

TEST(StateFeatures, TombstonesAreLentFullPagesWithoutSwaPages) {
  Stage stage({.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 32, .window = 4, .reqs = 2});
  EXPECT_EQ(stage.after(op::Extend{{{0, {0, 28}}}}).tombstones, 0);
  EXPECT_EQ(stage.after(op::Free{Side::swa, {{0, {0, 4}}}}).tombstones, 1);
  EXPECT_EQ(stage.after(op::Free{Side::swa, {{0, {4, 12}}}}).tombstones, 2);
  EXPECT_EQ(stage.after(op::Free{Side::swa, {{0, {12, 16}}}}).tombstones, 3);
  EXPECT_EQ(stage.after(op::Free{Side::full, {{0, {0, 16}}}}).tombstones, 0);
}

TEST(StateFeatures, PhaseOfTheRing) {
  Stage stage({.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 32, .ring = 8, .window = 4, .reqs = 2});
  EXPECT_EQ(stage.after(op::SlotTake{0}).ring, 0);
  EXPECT_EQ(stage.after(op::Extend{{{0, {0, 3}}}}).ring, 1);
  EXPECT_EQ(stage.after(op::Extend{{{0, {3, 7}}}}).ring, 2);
  EXPECT_EQ(stage.after(op::Decode{{0}}).ring, 3);
  EXPECT_EQ(stage.after(op::Decode{{0}}).ring, 4);
}

TEST(StateFeatures, RefusalsAndTheWordBeforeAreFeatures) {
  const auto last = [](const std::vector<Op>& ops) {
    Stage stage(paged(false));
    StateFeatures::Reached reached{};
    for (const Op& op : ops) {
      reached = stage.step(op);
    }
    return reached;
  };
  const Op fill = op::Extend{{{0, {0, 32}}}};
  const Op more = op::Extend{{{1, {0, 4}}}};
  EXPECT_NE(last({fill, more})[0], last({fill})[0]);
  const Op write = op::Write{1, {0, 1}};
  const Op read = op::Read{1, {0, 1}};
  EXPECT_NE(last({more, write, read, write})[0], last({more, write, write})[0]);
}

TEST(StateFeatures, ProductsDoNotShareNumbers) {
  std::array<std::set<std::uint32_t>, 4> reached;
  for (const NamedGeometry& named : named_geometries()) {
    RandomChoices choices(1, 0);
    const Trace trace = generate(named.geometry, choices, 200);
    Stage stage(trace.geometry);
    for (const Op& op : trace.ops) {
      const StateFeatures::Reached now = stage.step(op);
      for (std::size_t i = 0; i < now.size(); ++i) {
        EXPECT_LT(now[i], feature_limit);
        reached[i].insert(now[i]);
      }
    }
  }
  for (std::size_t i = 0; i + 1 < reached.size(); ++i) {
    EXPECT_LT(*reached[i].rbegin(), *reached[i + 1].begin());
  }
}

}  // namespace
}  // namespace poolproof
