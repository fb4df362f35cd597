#include "props/report.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/trace_text.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

Trace parsed(const std::string& text) {
  Result<Trace, TextError> trace = parse_trace(text, "x.trace");
  EXPECT_TRUE(trace.ok()) << trace.error().render();
  return *trace;
}

Trace ring_trace() {
  return parsed(
      "poolproof 1\n"
      "pool layout=hybrid page=4 full=8p swa=8p ring=8 window=4 reqs=2\n"
      "slot r0\n"
      "extend r0 0..6\n"
      "group {\n"
      "  free_swa r0 0..4\n"
      "}\n");
}

Verdict ring_verdict() {
  Verdict verdict;
  verdict.cause = Invariant::ring_pool_idle;
  verdict.op = 5;
  verdict.other_op = 4;
  verdict.what = "free_group_end moved the paged SWA pool, which is vestigial in ring mode";
  verdict.expected = "32 tokens available in the paged SWA pool";
  verdict.seen = "36 tokens";
  verdict.histories = {{Pool::full, 1, {"lent at op 2 by extend r0 (positions 0..4)", "given back at op 4"}},
                       {Pool::swa, 7, {}}};
  return verdict;
}

FailureView view_of(const Trace& trace, const Verdict& verdict) {
  FailureView view;
  view.impl = "B15-group-end";
  view.trace = &trace;
  view.verdict = &verdict;
  view.trace_file = "poolproof-out/B15-group-end-RING_POOL_IDLE.trace";
  view.note = "shrunk from 118 in 532 runs";
  return view;
}

Trace long_trace() {
  std::string text = "poolproof 1\npool layout=paged page=4 full=64p\n";
  for (int i = 0; i < 150; ++i) {
    text += "extend r" + std::to_string(i) + " 0..1\n";
  }
  return parsed(text);
}

TEST(Report, AllocatorsFault) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  expect_golden("report-allocator.txt", explain_failure(view_of(trace, verdict), false));
}

TEST(Report, AllocatorsFaultInColor) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  expect_golden("report-allocator-color.txt", explain_failure(view_of(trace, verdict), true));
}

TEST(Report, CallersFault) {
  const Trace trace = parsed(
      "poolproof 1\n"
      "pool layout=paged page=4 full=8p\n"
      "\n"
      "extend r0 0..6\n"
      "free r0 0..6\n"
      "free r0 0..4\n");
  Verdict verdict;
  verdict.cause = Rule::c1;
  verdict.op = 3;
  verdict.other_op = 2;
  verdict.what = "position 0 of r0 was given back already";
  FailureView view = view_of(trace, verdict);
  view.impl = "host";
  view.trace_file = "double free.trace";
  view.note.clear();
  expect_golden("report-caller.txt", explain_failure(view, false));
}

TEST(Report, ExpectationAndImplementation) {
  const Trace trace = parsed("poolproof 1\npool layout=paged page=4 full=8p\nexpect available full=7p\n");
  Verdict verdict;
  verdict.op = 1;
  verdict.cause = ExpectationFault{};
  verdict.what = "the full pool has 8 pages available";
  FailureView view{"host", &trace, &verdict, {}, {}, true};
  std::string text = explain_failure(view, false);
  verdict.cause = ImplementationFailure{};
  verdict.what = "gauges: the worker died";
  text += "\n" + explain_failure(view, false);
  expect_golden("report-other-causes.txt", text);
}

TEST(Report, LongTraceShowsWhatMatters) {
  const Trace trace = long_trace();
  Verdict verdict = ring_verdict();
  verdict.cause = Invariant::no_double_lend;
  verdict.op = 120;
  verdict.other_op = 30;
  expect_golden("report-long.txt", explain_failure(view_of(trace, verdict), false));
}

TEST(Report, FailureBeforeTheFirstOp) {
  const Trace trace = parsed("poolproof 1\npool layout=paged page=4 full=8p\n");
  Verdict verdict;
  verdict.cause = Invariant::avail_exact;
  verdict.what = "the fresh pool reports a wrong size";
  expect_golden("report-construction.txt", explain_failure(view_of(trace, verdict), false));
}

TEST(Report, ColorOnlyWhenAsked) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  EXPECT_EQ(explain_failure(view_of(trace, verdict), false).find('\x1b'), std::string::npos);
  EXPECT_NE(explain_failure(view_of(trace, verdict), true).find('\x1b'), std::string::npos);
}

TEST(Report, NoSnippetWhenNotAsked) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  FailureView view = view_of(trace, verdict);
  EXPECT_NE(explain_failure(view, false).find("TEST("), std::string::npos);
  view.snippet = false;
  EXPECT_EQ(explain_failure(view, false).find("TEST("), std::string::npos);
}

TEST(Report, ReplayLineIsReadyForAShell) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  FailureView view = view_of(trace, verdict);
  EXPECT_EQ(replay_line(view),
            "poolproof replay poolproof-out/B15-group-end-RING_POOL_IDLE.trace --impl B15-group-end");
  view.trace_file = "it's here.trace";
  EXPECT_EQ(replay_line(view), "poolproof replay 'it'\\''s here.trace' --impl B15-group-end");
}

TEST(Report, SnippetHoldsTheTrace) {
  const Trace trace = ring_trace();
  const Verdict verdict = ring_verdict();
  const std::string snippet = gtest_snippet(view_of(trace, verdict));
  EXPECT_NE(snippet.find("TEST(PoolRegression, B15GroupEndRingPoolIdle)"), std::string::npos) << snippet;
  const std::size_t begin = snippet.find("R\"trace(") + 8;
  const std::size_t end = snippet.find(")trace\"");
  ASSERT_LT(begin, end);
  const Trace again = parsed(snippet.substr(begin, end - begin));
  EXPECT_EQ(again.geometry, trace.geometry);
  EXPECT_EQ(again.ops, trace.ops);
}

TEST(Report, PageNames) {
  EXPECT_EQ(page_name(Pool::full, 22), "F:22");
  EXPECT_EQ(page_name(Pool::swa, 7), "S:7");
}

}  // namespace
}  // namespace poolproof
