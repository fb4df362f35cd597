// Each trace in fuzz/callers/ is a caller's mistake that was seen in public: its last op breaks the rule that it names,
// and the caller is blamed for it, on every implementation.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "tests/props/trace_folder.hpp"
#include "tests/props/trace_header.hpp"

namespace poolproof {
namespace {

class CallerTrace : public testing::TestWithParam<std::string> {};

TEST_P(CallerTrace, IsBlamedOnTheCaller) {
  const std::string text = file_text(GetParam());
  ASSERT_NE(trace_header(text, "rule"), "") << "the trace names the rule that it breaks: `# rule: C2`";
  EXPECT_NE(trace_header(text, "catalogue"), "");
  const auto trace = load_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().render();
  const RunResult result = run_and_pin(*trace, host_impl_for(trace->geometry));
  ASSERT_EQ(result.build_error, "");
  ASSERT_TRUE(result.verdict) << "nobody is blamed";
  EXPECT_TRUE(result.verdict->caller_fault()) << result.verdict->what;
  EXPECT_EQ(cause_id(result.verdict->cause), trace_header(text, "rule")) << result.verdict->what;
  EXPECT_EQ(result.verdict->op, trace->ops.size()) << result.verdict->what;
}

// A mutant does not change whose fault it is.
TEST_P(CallerTrace, IsStillTheCallersOnAFaultyAllocatorThatHoldsUntilThen) {
  const auto trace = load_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().render();
  for (const char* name : {"kv-pair-swapped", "clear-zeroes-tail", "saver-moves"}) {
    const ImplInfo& impl = *find_impl(name);
    if (!impl.supports(trace->geometry)) {
      continue;
    }
    const RunResult result = run_trace(*trace, impl);
    ASSERT_TRUE(result.verdict);
    if (result.verdict->op == trace->ops.size()) {
      EXPECT_TRUE(result.verdict->caller_fault()) << name << ": " << result.verdict->what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Callers, CallerTrace, testing::ValuesIn(traces_in("fuzz/callers")), trace_test_name);

TEST(CallerTraces, SpreadOverTheRules) {
  std::set<std::string> rules;
  for (const std::string& file : traces_in("fuzz/callers")) {
    rules.insert(trace_header(file_text(file), "rule"));
  }
  EXPECT_GE(traces_in("fuzz/callers").size(), 15U);
  EXPECT_GE(rules.size(), 6U);
}

}  // namespace
}  // namespace poolproof
