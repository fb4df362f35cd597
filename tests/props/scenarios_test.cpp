// The scenarios in fuzz/scenarios/ hold on every real implementation, go where they say that they go, and catch each
// mutant that needs a ring.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "impl/host/hybrid_allocator.hpp"
#include "model/trace_text.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

const std::string scenario_folder = POOLPROOF_SOURCE_DIR "/fuzz/scenarios/";

Trace scenario(const std::string& name) {
  auto trace = load_trace(scenario_folder + name + ".trace");
  EXPECT_TRUE(trace) << trace.error().render();
  return trace ? *trace : Trace{};
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scenario_folder)) {
    if (entry.path().extension() == ".trace") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> impl_names(bool (*wanted)(const ImplInfo&)) {
  std::vector<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    if (wanted(impl)) {
      names.push_back(impl.name);
    }
  }
  return names;
}

std::vector<std::string> real_impls() {
  return impl_names([](const ImplInfo& impl) { return impl.kind == ImplKind::real; });
}

/// Mutants whose fault shows on a ringed pool alone.
std::vector<std::string> ring_mutants() {
  return impl_names([](const ImplInfo& impl) {
    Geometry ringed = scenario("ring-wrap").geometry;
    Geometry paired = ringed;
    paired.ring = 0;
    return impl.kind == ImplKind::mutant && impl.supports(ringed) && !impl.supports(paired);
  });
}

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Scenario : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Scenario, HoldsOnARealImplementation) {
  const auto& [name, impl_name] = GetParam();
  const Trace trace = scenario(name);
  const ImplInfo& impl = *find_impl(impl_name);
  if (!impl.supports(trace.geometry)) {
    GTEST_SKIP() << impl_name << " has no such pool";
  }
  if (const auto reason = impl.missing ? impl.missing() : std::nullopt) {
    GTEST_SKIP() << "skipped: " << *reason;
  }
  const RunResult result = run_and_pin(trace, impl);
  EXPECT_EQ(result.build_error, "");
  EXPECT_EQ(result.ops, trace.ops.size());
  EXPECT_FALSE(result.verdict) << cause_id(result.verdict->cause) << " at op " << result.verdict->op << ": "
                               << result.verdict->what;
}

INSTANTIATE_TEST_SUITE_P(Field, Scenario,
                         testing::Combine(testing::ValuesIn(scenario_names()), testing::ValuesIn(real_impls())),
                         [](const testing::TestParamInfo<Scenario::ParamType>& info) {
                           return identifier(std::get<0>(info.param) + "_on_" + std::get<1>(info.param));
                         });

class ScenarioRingMutant : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioRingMutant, IsCaughtBySomeScenarioAsItSays) {
  const ImplInfo& impl = *find_impl(GetParam());
  bool caught = false;
  for (const std::string& name : scenario_names()) {
    const Trace trace = scenario(name);
    if (!impl.supports(trace.geometry)) {
      continue;
    }
    const RunResult result = run_and_pin(trace, impl);
    ASSERT_EQ(result.build_error, "");
    if (result.verdict) {
      const auto* broken = std::get_if<Invariant>(&result.verdict->cause);
      ASSERT_NE(broken, nullptr) << name << ": " << result.verdict->what;
      EXPECT_NE(std::find(impl.caught_by.begin(), impl.caught_by.end(), *broken), impl.caught_by.end())
          << name << ": " << invariant_info(*broken).id;
      caught = true;
    }
  }
  EXPECT_TRUE(caught);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ScenarioRingMutant, testing::ValuesIn(ring_mutants()),
                         [](const testing::TestParamInfo<std::string>& info) { return identifier(info.param); });

TEST(Scenarios, TheMutantsOfTheRingAreThere) {
  const std::vector<std::string> names = ring_mutants();
  for (const char* name : {"B15-free-swa", "B15-group-end", "B15-no-clear", "B16", "B17", "ring-row-mod-window"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

// ---- they go where they say

/// The host twin, noting how often each request slot is taken.
class SlotCounting final : public HybridAllocator {
 public:
  SlotCounting(const Geometry& geometry, std::map<std::int64_t, int>& owners)
      : HybridAllocator(geometry), owners_(owners) {}

  Answer take_slot(std::int64_t& slot) override {
    const Answer answer = HybridAllocator::take_slot(slot);
    owners_[slot] += answer == Answer::served ? 1 : 0;
    return answer;
  }

 private:
  std::map<std::int64_t, int>& owners_;
};

/// What a scenario came to on the host twin.
struct Traffic {
  std::map<std::int64_t, int> owners;  ///< by request slot: how many requests it had
  int most_at_once = 0;                ///< requests of 600 tokens and more, at one time
};

int long_requests(const Machine& machine) {
  int count = 0;
  for (Row row = 0; row < machine.row_limit(); ++row) {
    count += machine.row_has_slot(row) && machine.row_length(row) >= 600 ? 1 : 0;
  }
  return count;
}

Traffic traffic_of(const Trace& trace) {
  Traffic traffic;
  SlotCounting twin(trace.geometry, traffic.owners);
  Machine machine(trace.geometry);
  Lockstep lockstep(machine, twin);
  EXPECT_FALSE(lockstep.start());
  for (const Op& op : trace.ops) {
    EXPECT_FALSE(lockstep.step(op));
    if (std::holds_alternative<op::Extend>(op)) {
      traffic.most_at_once = std::max(traffic.most_at_once, long_requests(machine));
    }
  }
  return traffic;
}

void expect_slots_recycled(const Traffic& traffic, std::int64_t slots, int owners) {
  for (std::int64_t slot = 1; slot <= slots; ++slot) {
    const auto found = traffic.owners.find(slot);
    EXPECT_GE(found == traffic.owners.end() ? 0 : found->second, owners) << "slot " << slot;
  }
}

TEST(Scenarios, LongPromptsTakeOverThreeSlots) {
  const Traffic traffic = traffic_of(scenario("ring-wrap"));
  EXPECT_EQ(traffic.most_at_once, 2);
  expect_slots_recycled(traffic, 3, 7);
}

TEST(Scenarios, ThirtyTwoRequestsAtATimeRecycleEachOf256Slots) {
  for (const char* name : {"ring-slots-recycled", "paired-slots-recycled"}) {
    const Traffic traffic = traffic_of(scenario(name));
    EXPECT_EQ(traffic.most_at_once, 32) << name;
    expect_slots_recycled(traffic, 256, 2);
  }
}

}  // namespace
}  // namespace poolproof
