// The tests that reports print, as a user's suite would run them.
#include "props/testing.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "props/report.hpp"

namespace poolproof {
namespace {

TEST(Holds, AsReportsPrintIt) {
  EXPECT_TRUE(poolproof::holds("host", R"trace(poolproof 1
pool layout=paged page=4 full=8p
extend r0 0..6
free r0 0..6
)trace"));
}

TEST(Holds, AFailingTestPrintsTheExplanation) {
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(poolproof::holds("host", R"trace(poolproof 1
pool layout=paged page=4 full=8p
extend r0 0..6
free r0 0..6
free r0 0..6
)trace")),
                          "C1 broken: the caller's fault");
}

TEST(Holds, ItsTextFormSaysTheSame) {
  const TraceOutcome bad = holds("host", "poolproof 1\npool layout=paged page=4 full=8p\nfree r0 0..4\n");
  EXPECT_FALSE(bad);
  ASSERT_TRUE(bad.verdict);
  EXPECT_TRUE(bad.verdict->caller_fault());
  std::ostringstream text;
  text << bad;
  EXPECT_EQ(text.str(), bad.explanation);
  EXPECT_EQ(testing::PrintToString(bad), bad.explanation);
}

TEST(Holds, UnknownNameAndMalformedTraceDoNotHold) {
  const TraceOutcome unknown = holds("hosst", "poolproof 1\npool layout=paged page=4 full=8p\n");
  EXPECT_FALSE(unknown);
  EXPECT_NE(unknown.explanation.find("hosst"), std::string::npos);
  const TraceOutcome malformed = holds("host", "poolproof 1\npool layout=paged page=4 full=8p\nfry r0\n");
  EXPECT_FALSE(malformed);
  EXPECT_NE(malformed.explanation.find("trace:3:"), std::string::npos) << malformed.explanation;
}

/// The trace that a printed test holds.
std::string trace_of(const std::string& snippet) {
  const std::size_t begin = snippet.find("R\"trace(") + 8;
  return snippet.substr(begin, snippet.find(")trace\"") - begin);
}

TEST(Holds, APrintedTestFailsOnTheMutantAndHoldsOnTheTwin) {
  const auto impls = builtin_impls();
  const auto mutant =
      std::find_if(impls.begin(), impls.end(), [](const ImplInfo& impl) { return impl.kind == ImplKind::mutant; });
  ASSERT_NE(mutant, impls.end());
  CampaignOptions options;
  options.impls = {&*mutant};
  const CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.outcomes[0].finding);
  const ShrinkResult& shrunk = report.outcomes[0].finding->shrunk;
  const std::string snippet = gtest_snippet({mutant->name, &shrunk.trace, &shrunk.verdict, {}, {}, true});
  EXPECT_NE(snippet.find("\"" + mutant->name + "\""), std::string::npos);

  const TraceOutcome on_mutant = holds(mutant->name, trace_of(snippet));
  ASSERT_TRUE(on_mutant.verdict) << on_mutant.explanation;
  EXPECT_EQ(on_mutant.verdict->cause, shrunk.verdict.cause);
  EXPECT_TRUE(holds("host", trace_of(snippet)));
}

}  // namespace
}  // namespace poolproof
