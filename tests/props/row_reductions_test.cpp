// What shrinking tries with two ops or two rows at once: each step on a trace that is in need of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/trace_text.hpp"
#include "props/reductions.hpp"

namespace poolproof {
namespace {

Trace trace_of(const std::string& text) {
  Result<Trace, TextError> trace = parse_trace("poolproof 1\n" + text, "reductions");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().render());
  return trace.ok() ? std::move(trace).value() : Trace{};
}

bool has(const std::vector<Trace>& candidates, const std::string& text) {
  const std::string wanted = print_trace(trace_of(text));
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const Trace& candidate) { return print_trace(candidate) == wanted; });
}

const std::string token = "pool layout=token full=3\n";
const std::string hybrid = "pool layout=hybrid page=1 full=1 swa=1 window=1\n";

TEST(RowReductions, AResizedPoolFromTheStart) {
  const auto reduced =
      row_reductions(trace_of(token + "extend r0 0..1\nresize full=8\nextend r0 0..4\nfree r0 0..1\n"));
  EXPECT_TRUE(has(reduced, "pool layout=token full=8\nextend r0 0..4\nfree r0 0..1\n"));
}

TEST(RowReductions, ARowThatSharesWithAnotherAsThatOne) {
  const auto reduced = row_reductions(trace_of(token + "extend r0 0..2\ncopy r1 0..1 = r0\nfree r0 0..2, r1 0..1\n"));
  EXPECT_TRUE(has(reduced, token + "extend r0 0..2\nfree r0 0..2, r0 0..1\n"));
}

TEST(RowReductions, ARowBehindAnother) {
  const auto reduced = row_reductions(trace_of(token + "extend r0 0..1\nextend r1 0..1\ntrim r1 1\nfree r1 0..1\n"));
  EXPECT_TRUE(has(reduced, token + "extend r0 0..1\nextend r0 1..2\ntrim r0 2\nfree r0 1..2\n"));
  // And then both lendings as one.
  EXPECT_TRUE(has(joint_reductions(trace_of(token + "extend r0 0..1\nextend r1 0..1\nfree r1 0..1\n")),
                  token + "extend r0 0..2\nfree r0 1..2\n"));
}

TEST(RowReductions, ARowOfEveryKindOfOpIsMoved) {
  const std::string pool = "pool layout=hybrid page=2 full=8p swa=8p window=1 reqs=2\n";
  const auto reduced = row_reductions(
      trace_of(pool + "extend r0 0..3\nslot r1\nextend r1 0..2\ndecode r1, r0\ntail r1 3..6 swa=4..6\n"
                      "remap r1 2..4 <- r0 0..2\nfree_segment r1 0..2, 4..6\nwrite r1 0..2\nunslot r1\n"));
  EXPECT_TRUE(has(reduced, pool + "extend r0 0..3\nslot r0\nextend r0 4..6\ndecode r0, r0\ntail r0 7..10 swa=8..10\n"
                                  "remap r0 6..8 <- r0 0..2\nfree_segment r0 4..6, 8..10\nwrite r0 4..6\nunslot r0\n"));
}

TEST(RowReductions, TwoLendingsAsOneBatch) {
  const auto reduced = row_reductions(trace_of(token + "extend r0 0..1\nwrite r0 0..1\nextend r1 0..2\n"));
  EXPECT_TRUE(has(reduced, token + "extend r0 0..1, r1 0..2\nwrite r0 0..1\n"));
}

TEST(RowReductions, ATombstoneLentAsSuch) {
  const auto reduced = row_reductions(trace_of(hybrid + "extend r0 0..1\nfree_swa r0 0..1\nfree_segment r0 0..1\n"));
  const std::string larger = "pool layout=hybrid page=1 full=2 swa=2 window=1\n";
  EXPECT_TRUE(has(reduced, larger + "tail r0 0..2 swa=1..2\nfree_segment r0 0..1\n"));
  EXPECT_TRUE(has(reduced, larger + "tail r0 0..2 swa=0..1\nfree_segment r0 1..2\n"));
  const auto paged = row_reductions(trace_of("pool layout=paged page=2 full=2p\nextend r0 0..1\nfree r0 0..1\n"));
  EXPECT_TRUE(paged.empty());
}

TEST(RowReductions, LongTracesAreSpared) {
  std::string ops;
  for (int i = 0; i < 60; ++i) {
    ops += "extend r" + std::to_string(i) + " 0..1\n";
  }
  EXPECT_TRUE(row_reductions(trace_of("pool layout=token full=64\n" + ops)).empty());
  EXPECT_TRUE(order_reductions(trace_of("pool layout=token full=64\n" + ops)).empty());
}

TEST(OrderReductions, OneOpElsewhereAndAnotherLess) {
  const auto reduced = order_reductions(trace_of(hybrid + "extend r0 0..1\nbackup b0\nfree r0 0..1\nrestore b0\n"));
  EXPECT_TRUE(has(reduced, hybrid + "backup b0\nextend r0 0..1\nrestore b0\n"));
}

TEST(JointReductions, TailsAreMergedAsOtherLendingsAre) {
  const auto reduced =
      joint_reductions(trace_of("pool layout=hybrid page=1 full=2 swa=1 window=1\n"
                                "tail r0 0..1 swa=0..1\ntail r0 1..2 swa=1..2\n"));
  EXPECT_TRUE(has(reduced, "pool layout=hybrid page=1 full=2 swa=1 window=1\nextend r0 0..2\n"));
}

}  // namespace
}  // namespace poolproof
