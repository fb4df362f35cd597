// Each trace in fuzz/regressions/ fails on the mutant that it names with the invariant that it names, and holds on the
// twins.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "impl/ranks.hpp"
#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "tests/props/trace_folder.hpp"
#include "tests/props/trace_header.hpp"

namespace poolproof {
namespace {

class Regression : public testing::TestWithParam<std::string> {};

TEST_P(Regression, HoldsOnTheTwins) {
  const auto trace = load_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().render();
  std::vector<const ImplInfo*> twins{&host_impl_for(trace->geometry)};
  if (trace->geometry.kv.none()) {
    twins.push_back(find_impl("cuda-host"));
  }
  for (const ImplInfo* twin : twins) {
    const RunResult result = run_and_pin(*trace, *twin);
    EXPECT_EQ(result.build_error, "");
    EXPECT_FALSE(result.verdict) << twin->name << ": " << cause_id(result.verdict->cause) << " at op "
                                 << result.verdict->op << ": " << result.verdict->what;
  }
}

TEST_P(Regression, FailsOnItsMutantAsItSays) {
  const std::string text = file_text(GetParam());
  const std::string mutant = trace_header(text, "mutant");
  if (mutant.empty()) {
    ASSERT_NE(trace_header(text, "holds"), "") << "a regression names `# mutant:` and `# expect:`, or `# holds:` why";
    return;
  }
  const ImplInfo* impl = find_impl(mutant);
  ASSERT_NE(impl, nullptr) << mutant;
  const auto trace = load_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().render();
  const RunResult result = run_and_pin(*trace, with_ranks(*impl, 1));
  ASSERT_EQ(result.build_error, "");
  ASSERT_TRUE(result.verdict) << mutant << " survives";
  EXPECT_EQ(cause_id(result.verdict->cause), trace_header(text, "expect")) << result.verdict->what;
}

INSTANTIATE_TEST_SUITE_P(Traces, Regression, testing::ValuesIn(traces_in("fuzz/regressions")), trace_test_name);

TEST(Regressions, TheReportsOfTheIssueHaveTraces) {
  std::vector<std::string> files = traces_in("fuzz/regressions");
  for (const char* number : {"38571", "27779", "25805", "36135", "38519", "35338"}) {
    const auto named = std::count_if(files.begin(), files.end(), [&](const std::string& file) {
      return std::filesystem::path(file).filename().string().find(number) != std::string::npos;
    });
    EXPECT_GE(named, 1) << number;
  }
}

}  // namespace
}  // namespace poolproof
