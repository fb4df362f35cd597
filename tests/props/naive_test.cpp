// The oracle is checked too: the reference machine against the naive model, op by op, on protocol-correct traces, on
// ops that know no protocol, and on every planted bug.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/trace_text.hpp"
#include "props/generator.hpp"
#include "tests/naive/duel.hpp"
#include "tests/naive/dumb_ops.hpp"
#include "tests/naive/naive_model.hpp"

namespace poolproof::naive {
namespace {

/// Pages of more tokens make the naive model slow and find nothing that small ones do not.
constexpr Tokens largest_page = 16;

enum class Source { protocol, dumb };

struct Tally {
  std::uint64_t ops = 0;
  std::uint64_t caller_faults = 0;
  std::uint64_t refusals = 0;
  std::uint64_t verdicts = 0;
  std::set<Rule> rules;
};

struct Dispute {
  std::string what;  ///< empty = the two agree
  Trace trace;
};

/// One trace, up to `ops` ops or the first verdict that is not the caller's.
Dispute duel(const ImplInfo& impl, const Geometry& geometry, Source source, std::uint64_t seed, std::uint64_t ops,
             Tally& tally) {
  RandomChoices choices(seed, 1);
  Generator generator(geometry, choices);
  Duel duel(impl, geometry);
  Dispute dispute{{}, {geometry, {}, {}}};
  Round round = duel.start();
  while (round.disagreement.empty() && dispute.trace.ops.size() < ops) {
    if (round.verdict && !round.verdict->caller_fault()) {
      break;
    }
    const Op op =
        source == Source::protocol ? generator.next(duel.machine()) : dumb_op(geometry, duel.model(), choices);
    dispute.trace.ops.push_back(op);
    round = duel.step(op);
    ++tally.ops;
    if (round.verdict && round.verdict->caller_fault()) {
      ++tally.caller_faults;
      tally.rules.insert(std::get<Rule>(round.verdict->cause));
    } else {
      tally.refusals += duel.machine().last_refused() ? 1U : 0U;
    }
  }
  tally.verdicts += round.verdict && round.verdict->allocator_fault() ? 1U : 0U;
  dispute.what = round.disagreement;
  return dispute;
}

void expect_agreement(const Dispute& dispute, const std::string& impl, std::uint64_t seed) {
  EXPECT_EQ(dispute.what, "") << "seed " << seed << " on " << impl << ", at the last op of\n"
                              << print_trace(dispute.trace);
}

std::vector<NamedGeometry> small_geometries(const ImplInfo& impl) {
  std::vector<NamedGeometry> small = impl.memory ? memory_geometries() : named_geometries();
  std::erase_if(small, [](const NamedGeometry& named) { return named.geometry.page > largest_page; });
  return small;
}

/// `ops_total` ops over all small geometries, each trace on a variation of its own.
Tally run(const ImplInfo& impl, Source source, std::uint64_t ops_total, std::uint64_t ops_each) {
  Tally tally;
  const std::vector<NamedGeometry> geometries = small_geometries(impl);
  for (std::uint64_t seed = 1; tally.ops < ops_total && !testing::Test::HasFailure(); ++seed) {
    RandomChoices choices(seed, 0);
    const Geometry geometry = vary_geometry(geometries[seed % geometries.size()].geometry, choices);
    if (impl.supports(geometry)) {
      expect_agreement(duel(impl, geometry, source, seed, ops_each, tally), impl.name, seed);
    }
  }
  return tally;
}

TEST(Naive, AgreesOnProtocolCorrectTraces) {
  const Tally tally = run(*find_impl("host"), Source::protocol, 50'000, 150);
  EXPECT_EQ(tally.caller_faults, 0U);
  EXPECT_EQ(tally.verdicts, 0U);
  EXPECT_GT(tally.refusals, 500U);
}

TEST(Naive, AgreesOnOpsThatKnowNoProtocol) {
  const Tally tally = run(*find_impl("host"), Source::dumb, 100'000, 200);
  EXPECT_EQ(tally.verdicts, 0U);
  EXPECT_EQ(tally.rules.size(), rule_count - 1);  // C11 is about memory
  EXPECT_GT(tally.caller_faults, tally.ops / 8);
  EXPECT_LT(tally.caller_faults, tally.ops * 7 / 8);
  EXPECT_GT(tally.refusals, 500U);
}

TEST(Naive, AgreesOnPoolsWithMemory) {
  const Tally correct = run(*find_impl("saver"), Source::protocol, 40'000, 150);
  EXPECT_EQ(correct.caller_faults, 0U);
  EXPECT_EQ(correct.verdicts, 0U);
  EXPECT_GT(correct.refusals, 500U);
  const Tally dumb = run(*find_impl("saver"), Source::dumb, 60'000, 200);
  EXPECT_EQ(dumb.verdicts, 0U);
  EXPECT_TRUE(dumb.rules.contains(Rule::c11));
  EXPECT_GT(dumb.caller_faults, dumb.ops / 8);
}

class NaiveMutants : public testing::TestWithParam<std::string> {};

// No misses and no false alarms: both find the fault, at the same op.
TEST_P(NaiveMutants, FindsWhatTheMachineFinds) {
  const ImplInfo& impl = *find_impl(GetParam());
  Tally tally;
  const std::vector<NamedGeometry> geometries = small_geometries(impl);
  for (std::uint64_t seed = 1; seed <= 400 && tally.verdicts < 8 && !testing::Test::HasFailure(); ++seed) {
    RandomChoices choices(seed, 0);
    const Geometry geometry = vary_geometry(geometries[seed % geometries.size()].geometry, choices);
    if (impl.supports(geometry)) {
      expect_agreement(duel(impl, geometry, Source::protocol, seed, 120, tally), impl.name, seed);
    }
  }
  EXPECT_GT(tally.verdicts, 0U);
}

std::vector<std::string> mutants() {
  std::vector<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    // One that takes several replicas is right by itself.
    if (impl.kind != ImplKind::real && impl.ranks == 1) {
      names.push_back(impl.name);
    }
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, NaiveMutants, testing::ValuesIn(mutants()), test_name);

}  // namespace
}  // namespace poolproof::naive
