// All small traces: every sequence of up to five ops from a small alphabet, over pools of two pages, with no regard to
// the protocol. The reference machine and the naive model agree on each. Where five ops from nothing are too few to get
// anywhere, a prelude sets the scene.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "model/trace_text.hpp"
#include "tests/naive/duel.hpp"

namespace poolproof::naive {
namespace {

struct Scope {
  std::string name;
  std::string pool;
  std::string prelude;   ///< ops that come first in each trace
  std::string alphabet;  ///< one op a line
  int depth = 5;
};

void PrintTo(const Scope& scope, std::ostream* out) { *out << scope.name; }

Trace parse(const std::string& pool, const std::string& ops) {
  auto trace = parse_trace(fmt::format("poolproof 1\npool {}\n{}", pool, ops), "alphabet");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().render());
  return trace.ok() ? std::move(trace).value() : Trace{};
}

/// Walks the tree of traces; machine, model and implementation are copied at each branch, so no prefix is run twice.
class Explorer {
 public:
  Explorer(std::vector<Op> alphabet, const Trace& prelude) : alphabet_(std::move(alphabet)), path_(prelude) {}

  void explore(Duel& at, int depth) {
    for (const Op& op : alphabet_) {
      ++traces_;
      if (const auto round = at.turn_away(op)) {
        check(*round, op);
        continue;
      }
      Duel next(at);
      const Round round = next.step(op);
      check(round, op);
      EXPECT_FALSE(round.verdict) << "on the host twin";
      if (testing::Test::HasFailure()) {
        return;
      }
      ++served_;
      if (depth > 1) {
        path_.ops.push_back(op);
        explore(next, depth - 1);
        path_.ops.pop_back();
      }
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }

  [[nodiscard]] std::uint64_t traces() const { return traces_; }
  [[nodiscard]] std::uint64_t served() const { return served_; }

 private:
  void check(const Round& round, const Op& op) const {
    if (!round.disagreement.empty()) {
      ADD_FAILURE() << round.disagreement << "\nat " << print_op(op, path_.geometry) << " after\n"
                    << print_trace(path_);
    }
  }

  std::vector<Op> alphabet_;
  Trace path_;
  std::uint64_t traces_ = 0;
  std::uint64_t served_ = 0;
};

class Exhaustive : public testing::TestWithParam<Scope> {};

TEST_P(Exhaustive, MachineAndNaiveModelAgree) {
  const Scope& scope = GetParam();
  const Trace prelude = parse(scope.pool, scope.prelude);
  Explorer explorer(parse(scope.pool, scope.alphabet).ops, prelude);
  Duel duel(*find_impl("host"), prelude.geometry);
  ASSERT_EQ(duel.start().disagreement, "");
  for (const Op& op : prelude.ops) {
    const Round round = duel.step(op);
    ASSERT_EQ(round.disagreement, "");
    ASSERT_FALSE(round.verdict) << round.verdict->what;
  }
  explorer.explore(duel, scope.depth);
  EXPECT_GT(explorer.served(), 0U);
  EXPECT_GT(explorer.traces(), explorer.served());  // some are the caller's fault
  RecordProperty("traces", static_cast<int>(explorer.traces()));
}

const std::string whole_state = R"(
group_begin
group_end
group_begin again
group_end again
backup b0
restore b0
clear
)";

const std::string slots = R"(
slot r0
unslot r0
slot r1
)";

const std::string single_slots = R"(
extend r0 0..1
extend r0 0..2
extend r0 1..2
extend r0 0..1, r1 0..1
alloc r1 0..1
decode r0
decode r0, r1
decode r0, r0
free r0 0..1
free r0 0..2
free r0 1..2, r0 0..2
free r0 0..1, r1 0..1
free_segment r0 0..1, 1..2
free_segment r0 1..2, 0..1
copy r1 0..1 = r0
drop r1 0..1
trim r0 1
write r0 0..1
write r1 0..1
read r0 0..1
read r1 0..1
)";

const std::string pages = R"(
extend r0 0..1
extend r0 0..3
extend r0 1..2
extend r0 2..4, r1 0..1
alloc r0 0..2
alloc r1 0..4
decode r0
decode r0, r1
free r0 0..2
free r0 0..1
free r0 2..4
free r0 0..3, r0 0..4
free r0 0..2, r1 0..2
free_segment r0 0..3
free_segment r0 0..2, 2..4
free_segment r0 0..2, 1..2
copy r1 0..2 = r0
drop r0 0..2
trim r0 1
trim r0 2
trim r0 3
write r0 0..2
read r0 0..2
read r1 0..2
)";

const std::string paired_slots = R"(
extend r0 0..1
extend r0 0..2
extend r1 0..1
decode r0
tail r0 0..2 swa=1..2
tail r1 0..1 swa=0..1
alloc r0 1..2
free r0 0..1
free r0 0..2
free_swa r0 0..1
free_full r0 0..1
free_swa_segment r0 0..1
free_full_segment r0 0..2
copy r1 0..1 = r0
drop r1 0..1
remap r1 0..1 <- r0 0..1
remap r0 0..1 <- r0 1..2
unmap r0 0..1
write r0 0..2
write r1 0..1
read r0 0..1
read r0 0..2
read r1 0..1
)";

const std::string paired_pages = R"(
extend r0 0..1
extend r0 0..2
extend r0 0..3
extend r1 0..2
decode r0
decode r1
tail r0 0..4 swa=2..3
tail r1 0..2 swa=0..2
free r0 0..2
free r0 0..2, r1 0..2
free_swa r0 0..2
free_swa r0 0..1
free_full r0 0..2
free_segment r0 0..4
free_swa_segment r0 0..2, 2..4
copy r1 0..2 = r0
drop r1 0..2
trim r0 1
trim r0 3
remap r1 0..2 <- r0 0..2
remap r1 0..1 <- r0 1..2
remap r0 0..2 <- r0 1..3
unmap r0 0..2
write r0 0..2
write r1 0..2
read r0 1..2
read r1 0..2
)";

const std::string ring = R"(
slot r0
unslot r0
slot r1
extend r0 0..1
extend r0 0..3
extend r1 0..2
decode r0
tail r0 0..4 swa=2..3
free r0 0..2
free_swa r0 0..2
free_full r0 0..2
free_swa_segment r0 0..2, 2..4
free_segment r0 0..4
copy r1 0..2 = r0
trim r0 1
trim r0 3
remap r1 0..2 <- r0 0..2
remap r0 0..2 <- r0 1..3
unmap r0 0..2
write r0 0..1
write r0 0..3
write r1 0..2
read r0 0..1
read r0 1..3
read r1 0..2
)";

const std::string sliding = R"(
extend r0 0..1
extend r0 0..2
decode r0
alloc r1 0..1
free r0 0..1
free r0 0..2
free_swa r0 0..1
free_swa r0 0..2
free_full r0 0..1
free_swa_segment r0 0..1, 1..2
copy r1 0..1 = r0
drop r1 0..1
trim r0 1
write r0 0..2
read r0 0..1
read r0 0..2
)";

std::vector<Scope> scopes() {
  return {
      {"token", "layout=token page=1 full=2 reqs=1", "", single_slots + whole_state + "resize full=1\nslot r0\n"},
      {"paged", "layout=paged page=2 full=2p need_sort=1", "", pages + whole_state + "resize full=1p\n"},
      {"hybrid", "layout=hybrid page=1 full=2 swa=2 window=1", "", paired_slots + whole_state},
      {"hybrid_pages", "layout=hybrid page=2 full=2p swa=2p window=1", "", paired_pages + whole_state},
      {"hybrid_running", "layout=hybrid page=2 full=4p swa=3p window=2 reqs=2",
       "slot r0\nextend r0 0..4\nwrite r0 0..4\nextend r1 0..2\n", paired_pages + whole_state + slots, 4},
      {"hybrid_tombstones", "layout=hybrid page=2 full=4p swa=3p window=2 reqs=1",
       "extend r1 0..2\nfree_swa r1 0..2\nextend r0 0..4\nwrite r0 0..4\n", paired_pages + whole_state, 4},
      {"ring", "layout=hybrid page=2 full=2p swa=2p ring=2 window=1 reqs=1", "", ring + whole_state},
      {"ring_running", "layout=hybrid page=2 full=3p swa=1p ring=3 window=2 reqs=2",
       "slot r0\nextend r0 0..3\nwrite r0 0..3\nslot r1\nextend r1 0..2\n", ring + whole_state, 4},
      {"pure_swa", "layout=pure_swa page=1 full=2 window=1 reqs=1", "", sliding + whole_state + slots},
  };
}

INSTANTIATE_TEST_SUITE_P(All, Exhaustive, testing::ValuesIn(scopes()),
                         [](const auto& scope) { return scope.param.name; });

}  // namespace
}  // namespace poolproof::naive
