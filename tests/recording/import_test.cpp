// Each kind of call as an op, each fault with its place, logs that are cut, damaged or late.
#include "recording/import.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "tests/recording/import_text.hpp"

namespace poolproof {
namespace {

std::string header(const std::string& geometry, const std::string& more = R"("fresh": true)") {
  return fmt::format(R"({{"poolproof_log": 1, "session": "s", "file": 0, "n": 0, "class": "C", "engine": "e", )"
                     R"("geometry": {{{}}}, {}}})"
                     "\n",
                     geometry, more);
}

const std::string paged = R"("layout": "paged", "page": 4, "full": 32)";
const std::string token = R"("layout": "token", "page": 1, "full": 8, "reqs": 2)";
const std::string hybrid = R"("layout": "hybrid", "page": 4, "full": 32, "swa": 24, "window": 6)";
const std::string ringed = R"("layout": "hybrid", "page": 4, "full": 32, "swa": 24, "window": 4, "ring": 8, "reqs": 2)";
const std::string pure = R"("layout": "pure_swa", "page": 1, "full": 8, "window": 2)";

/// Numbers the calls.
std::string log(const std::string& geometry, const std::vector<std::string>& calls,
                const std::string& more = R"("fresh": true)") {
  std::string text = header(geometry, more);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    text += fmt::format(R"({{"n": {}, "t": 1, {}}})"
                        "\n",
                        i, calls[i]);
  }
  return text;
}

std::string extend(int prefix, int seq, int last, const std::string& locs, const std::string& counts = "") {
  return fmt::format(
      R"("call": "alloc_extend", "prefix_lens": [{}], "seq_lens": [{}], "last_locs": [[{}, 1]], "locs": {}{})", prefix,
      seq, last, locs, counts);
}
std::string decode(int seq, int last, const std::string& locs) {
  return fmt::format(R"("call": "alloc_decode", "seq_lens": [{}], "last_locs": [[{}, 1]], "locs": {})", seq, last,
                     locs);
}
std::string call(const std::string& name, const std::string& arguments = "") {
  return fmt::format(R"("call": "{}"{}{})", name, arguments.empty() ? "" : ", ", arguments);
}
std::string release(const std::string& name, const std::string& locs, const std::string& counts = "") {
  return call(name, fmt::format(R"("locs": {}{})", locs, counts));
}

/// The ops alone.
std::string ops_of(const Imported& imported) {
  const auto trace = parse_trace(imported.trace, "lifted");
  EXPECT_TRUE(trace) << trace.error().render() << imported.trace;
  if (!trace) {
    return {};
  }
  std::string text;
  for (const Op& op : trace->ops) {
    text += print_op(op, trace->geometry) + "\n";
  }
  return text;
}

/// Of the trace on the host twin: "holds", or "C1 at op 3, with op 2".
std::string replayed(const Imported& imported) {
  const auto trace = parse_trace(imported.trace, "lifted");
  EXPECT_TRUE(trace);
  const RunResult run = run_trace(*trace, *find_impl("host"), {.census_every = 1});
  return run.verdict ? fmt::format("{} at op {}, with op {}", cause_id(run.verdict->cause), run.verdict->op,
                                   run.verdict->other_op)
                     : "holds";
}

void expect_lifted(const std::string& text, const std::string& ops) {
  const Imported imported = import_text(text);
  EXPECT_EQ(imported.fault, "");
  EXPECT_EQ(ops_of(imported), ops);
  EXPECT_EQ(findings_text(imported), "");
  EXPECT_EQ(replayed(imported), "holds");
}

// ---- each kind of call

TEST(Lift, ARowIsAChainOfLendings) {
  expect_lifted(log(paged, {extend(0, 6, -1, "[[4, 6]]"), decode(7, 9, "[[10, 1]]"), decode(8, 10, "[[11, 1]]"),
                            decode(9, 11, "[[16, 1]]"), release("free", "[[4, 8], [16, 1]]")}),
                "extend r0 0..6\ndecode r0\ndecode r0\ndecode r0\nfree r0 0..9\n");
}

TEST(Lift, ASharedPrefixBeginsARowOfItsOwn) {
  expect_lifted(log(paged, {extend(0, 8, -1, "[[4, 8]]"), extend(4, 6, 7, "[[12, 2]]"), extend(8, 9, 11, "[[16, 1]]"),
                            release("free", "[[4, 10], [16, 1]]")}),
                "extend r0 0..8\nextend r1 0..2\nextend r0 8..9\nfree r0 0..9, r1 0..2\n");
}

TEST(Lift, ABatchKeepsItsOrder) {
  expect_lifted(
      log(paged,
          {R"("call": "alloc_extend", "prefix_lens": [0, 0], "seq_lens": [2, 5], "last_locs": [[-1, 1], [-1, 1]], "locs": [[8, 2], [4, 4], [12, 1]])",
           R"("call": "alloc_decode", "seq_lens": [6, 3], "last_locs": [[12, 1], [9, 1]], "locs": [[13, 1], [10, 1]])"}),
      "extend r0 0..2, r1 0..5\ndecode r1, r0\n");
}

TEST(Lift, RejectedTokensAreTrimmed) {
  // Two of four tokens written ahead are accepted; then the row ends before its last token is used.
  expect_lifted(log(paged, {extend(0, 5, -1, "[[4, 5]]"), extend(5, 8, 8, "[[9, 3]]"), extend(6, 7, 9, "[[10, 1]]"),
                            release("free", "[[4, 6]]")}),
                "extend r0 0..5\nextend r0 5..8\ntrim r0 6\nextend r0 6..7\ntrim r0 6\nfree r0 0..6\n");
}

TEST(Lift, TokenPoolsAllocAndExtend) {
  expect_lifted(log(token, {call("alloc", R"("tokens": 3, "locs": [[1, 3]])"), extend(3, 5, 3, "[[4, 2]]"),
                            release("free", "[[2, 1]]"), release("free", "[[1, 1], [3, 3]]")}),
                "alloc r0 0..3\nextend r0 3..5\nfree r0 1..2\nfree r0 0..1, r0 2..5\n");
}

TEST(Lift, Segments) {
  expect_lifted(
      log(paged, {extend(0, 16, -1, "[[4, 16]]"), extend(4, 8, 7, "[[20, 4]]"),
                  call("free_segments",
                       R"("segments": [{"locs": [[4, 8]], "start_pos": 0}, {"locs": [[16, 4]], "start_pos": 12}])"),
                  call("free_segments", R"("segments": [{"locs": [[12, 4], [20, 4]], "start_pos": 0}])")}),
      "extend r0 0..16\nextend r1 0..4\nfree_segment r0 0..8, 12..16\nfree_segment r0 8..12\nfree_segment r1 0..4\n");
}

TEST(Lift, TheSidesOfAHybrid) {
  expect_lifted(
      log(hybrid,
          {R"("call": "alloc_extend_swa_tail", "prefix_lens": [0], "seq_lens": [8], "last_locs": [[-1, 1]], "tail_len": 4, "tail_end": 8, "locs": [[4, 8]], "full": 24, "swa": 20)",
           release("free_full", "[[4, 4]]", R"(, "full": 28, "swa": 20)"),
           release("free_swa", "[[8, 4]]", R"(, "full": 28, "swa": 24)"),
           call("free_full_segments", R"("segments": [{"locs": [[8, 4]], "start_pos": 4}], "full": 32, "swa": 24)")}),
      "tail r0 0..8 swa=4..8\nfree_full r0 0..4\nfree_swa r0 4..8\nfree_full_segment r0 4..8\n");
}

TEST(Lift, LoadBack) {
  const std::vector<std::string> calls{extend(0, 4, -1, "[[4, 4]]"), extend(0, 4, -1, "[[8, 4]]"),
                                       release("free_swa", "[[4, 4]]")};
  const std::string set = call("set_full_to_swa_mapping", R"("locs": [[4, 4]], "swa_locs": [[8, 4]], "swa": 20)");
  const std::string clear = release("clear_full_to_swa_mapping", "[[8, 4]]");
  for (const auto& [first, second] : {std::pair(set, clear), std::pair(clear, set)}) {
    std::vector<std::string> all = calls;
    all.insert(all.end(), {first, second, release("free", "[[4, 4]]")});
    expect_lifted(log(hybrid, all),
                  "extend r0 0..4\nextend r1 0..4\nfree_swa r0 0..4\nremap r0 0..4 <- r1 0..4\nfree r0 0..4\n");
  }
}

TEST(Lift, ClearsOfLocsWithoutPeer) {
  expect_lifted(log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), release("free_swa", "[[4, 4]]"),
                             release("clear_full_to_swa_mapping", "[[4, 2]]")}),
                "extend r0 0..4\nfree_swa r0 0..4\nunmap r0 0..2\n");
}

TEST(Lift, PeersOfUnknownOwnersAreLeftOut) {
  const Imported imported = import_text(
      log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), release("free_swa", "[[4, 4]]", R"(, "full": 28, "swa": 24)"),
                   call("set_full_to_swa_mapping", R"("locs": [[4, 4]], "swa_locs": [[8, 4]], "full": 28)"),
                   release("free", "[[4, 4]]", R"(, "full": 32, "swa": 28)")}));
  EXPECT_EQ(ops_of(imported), "extend r0 0..4\nfree_swa r0 0..4\nfree r0 0..4\n");
  EXPECT_EQ(findings_text(imported), "left_out log-0.jsonl:4 n=2\n");
  EXPECT_EQ(replayed(imported), "holds");
}

TEST(Lift, GroupsAreWrittenAsBlocks) {
  const Imported imported = import_text(log(paged, {extend(0, 4, -1, "[[4, 4]]"), call("free_group_begin"),
                                                    release("free", "[[4, 4]]"), call("free_group_end")}));
  EXPECT_NE(imported.trace.find("group {  # n=1\n  free r0 0..4  # n=2\n}  # n=3\n"), std::string::npos)
      << imported.trace;
  EXPECT_EQ(replayed(imported), "holds");
}

TEST(Lift, AGroupThatTheLogDoesNotCloseStaysOpen) {
  const Imported imported = import_text(log(paged, {call("free_group_begin"), extend(0, 4, -1, "[[4, 4]]")}));
  EXPECT_EQ(ops_of(imported), "group_begin\nextend r0 0..4\n");
  EXPECT_EQ(replayed(imported), "holds");
}

TEST(Lift, Slots) {
  expect_lifted(log(ringed, {call("take_slot", R"("slot": 2, "full": 32, "swa": 8)"), call("take_slot", R"("slot": 1)"),
                             call("take_slot", R"("slot": null)"), call("give_slot", R"("slot": 2, "swa": 8)"),
                             call("give_slot", R"("slot": 1, "swa": 16)")}),
                "slot r0\nslot r1\nslot r2\nunslot r0\nunslot r1\n");
}

TEST(Lift, TheWholeState) {
  expect_lifted(
      log(paged, {call("backup_state", R"("key": 900)"), extend(0, 4, -1, "[[4, 4]]"),
                  call("restore_state", R"("key": 900, "full": 32)"), extend(0, 4, -1, "[[4, 4]]"),
                  call("resize", R"("full": 16)"), extend(0, 4, -1, "[[4, 4]]"), call("clear", R"("full": 16)")}),
      "backup b0\nextend r0 0..4\nrestore b0\nextend r1 0..4\nresize full=4p\nextend r2 0..4\nclear\n");
}

TEST(Lift, RestoredPagesBelongToTheirFormerRows) {
  expect_lifted(
      log(paged, {extend(0, 8, -1, "[[4, 8]]"), call("backup_state", R"("key": 1)"), release("free", "[[4, 8]]"),
                  call("restore_state", R"("key": 1)"), release("free", "[[8, 4]]", R"(, "full": 28)")}),
      "extend r0 0..8\nbackup b0\nfree r0 0..8\nrestore b0\nfree r0 4..8\n");
}

TEST(Lift, PureSwaFreesOnceOnEitherSide) {
  expect_lifted(log(pure, {extend(0, 4, -1, "[[1, 4]]"), release("free_swa", "[[1, 2]]", R"(, "full": 6, "swa": 6)"),
                           release("free_full", "[[3, 2]]", R"(, "full": 6)"),
                           release("free", "[[3, 2]]", R"(, "full": 8, "swa": 8)")}),
                "extend r0 0..4\nfree_swa r0 0..2\nfree_full r0 2..4\nfree r0 2..4\n");
}

TEST(Lift, WhatChangesNothingIsLookedPast) {
  expect_lifted(log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), call("translate", R"("locs": [[4, 4]])")}),
                "extend r0 0..4\n");
}

TEST(Lift, RowsAreUsedAgain) {
  std::vector<std::string> calls;
  for (int i = 0; i < 1000; ++i) {
    calls.push_back(extend(0, 4, -1, "[[4, 4]]"));
    calls.push_back(release("free", "[[4, 4]]"));
  }
  const Imported imported = import_text(log(paged, calls));
  EXPECT_EQ(findings_text(imported), "");
  EXPECT_LT(imported.report.rows, 300U);
}

TEST(Lift, MoreAllocsThanRows) {
  // 70000 live allocs of one slot each: rows go on in others when there are no more.
  std::vector<std::string> calls;
  std::string all;
  constexpr int count = 70000;
  for (int i = 1; i <= count; ++i) {
    calls.push_back(call("alloc", fmt::format(R"("tokens": 1, "locs": [[{}, 1]])", i)));
  }
  calls.push_back(release("free", fmt::format(R"([[1, {}]])", count), fmt::format(R"(, "full": {})", count)));
  const Imported imported = import_text(log(fmt::format(R"("layout": "token", "page": 1, "full": {})", count), calls));
  EXPECT_EQ(findings_text(imported), "");
  EXPECT_EQ(imported.report.rows, 65536U);
  const auto trace = parse_trace(imported.trace, "lifted");
  ASSERT_TRUE(trace);
  EXPECT_FALSE(run_trace(*trace, *find_impl("host"), {.census_every = 0}).verdict);
}

TEST(Lift, ABatchThatNoLineHolds) {
  constexpr int count = 5000;
  std::string prefixes;
  std::string seqs;
  for (int i = 0; i < count; ++i) {
    prefixes += i == 0 ? "0" : ", 0";
    seqs += i == 0 ? "2" : ", 2";
  }
  std::string lasts = "[-1, 1]";
  std::string locs = "[4, 2]";
  for (int i = 1; i < count; ++i) {
    lasts += ", [-1, 1]";
    locs += fmt::format(", [{}, 2]", 4 * (i + 1));
  }
  const std::string batch = fmt::format(
      R"("call": "alloc_extend", "prefix_lens": [{}], "seq_lens": [{}], "last_locs": [{}], "locs": [{}], "full": 0)",
      prefixes, seqs, lasts, locs);
  const Imported imported =
      import_text(log(fmt::format(R"("layout": "paged", "page": 4, "full": {})", 4 * count),
                      {batch, release("free", fmt::format("[{}]", locs), fmt::format(R"(, "full": {})", 4 * count))}));
  EXPECT_EQ(findings_text(imported), "");
  EXPECT_EQ(imported.report.ops, 6U);
  EXPECT_EQ(replayed(imported), "holds");
}

// ---- callers' faults

void expect_fault(const std::string& text, const std::string& findings, const std::string& verdict) {
  const Imported imported = import_text(text);
  EXPECT_EQ(imported.fault, "");
  EXPECT_EQ(findings_text(imported), findings);
  EXPECT_EQ(replayed(imported), verdict) << imported.trace;
}

TEST(CallersFault, FreedTwice) {
  expect_fault(log(paged, {extend(0, 6, -1, "[[4, 6]]"), extend(0, 4, -1, "[[12, 4]]"), release("free", "[[4, 6]]"),
                           release("free", "[[12, 4], [4, 4]]", R"(, "full": 36)")}),
               "caller_fault C1 log-0.jsonl:5 n=3 op=5\n", "C1 at op 5, with op 3");
}

TEST(CallersFault, ThePlaceStandsInTheTrace) {
  const Imported imported =
      import_text(log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]"), release("free", "[[4, 4]]")}));
  EXPECT_NE(imported.trace.find("log-0.jsonl:4 call 2 (free): C1: loc 4 was given back by call 1 already (r0 gave up "
                                "position 0 at op 2)\nfree r0 0..4  # n=2\n"),
            std::string::npos)
      << imported.trace;
}

TEST(CallersFault, NeverLent) {
  expect_fault(log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[20, 2]]")}),
               "caller_fault C1 log-0.jsonl:3 n=1 op=2\n", "C1 at op 2, with op 0");
}

TEST(CallersFault, OutsideOfThePool) {
  for (const char* locs : {"[[0, 4]]", "[[36, 4]]", "[[-5, 2]]", "[[36, 2000000000]]"}) {
    const Imported imported = import_text(log(paged, {release("free", locs)}));
    EXPECT_EQ(imported.report.findings.count(LogFindingKind::caller_fault), 1U) << locs << findings_text(imported);
    EXPECT_TRUE(parse_trace(imported.trace, "lifted")) << imported.trace;
  }
}

TEST(CallersFault, PartOfAPage) {
  expect_fault(log(paged, {extend(0, 8, -1, "[[4, 8]]"), release("free", "[[6, 2]]", R"(, "full": 28)"),
                           release("free", "[[8, 4]]", R"(, "full": 32)")}),
               "caller_fault C3 log-0.jsonl:3 n=1 op=2\n", "C3 at op 2, with op 1");
}

TEST(CallersFault, ASegmentInsideAPage) {
  expect_fault(
      log(paged,
          {extend(0, 8, -1, "[[4, 8]]"), call("free_segments", R"("segments": [{"locs": [[6, 6]], "start_pos": 2}])")}),
      "caller_fault C4 log-0.jsonl:3 n=1 op=2\ncaller_fault C3 log-0.jsonl:3 n=1 op=4\n", "C4 at op 2, with op 1");
}

TEST(CallersFault, SegmentsThatMeetInsideAPage) {
  const Imported imported = import_text(
      log(paged, {extend(0, 8, -1, "[[4, 8]]"),
                  call("free_segments",
                       R"("segments": [{"locs": [[4, 6]], "start_pos": 0}, {"locs": [[8, 4]], "start_pos": 4}])")}));
  EXPECT_EQ(findings_text(imported), "caller_fault C4 log-0.jsonl:3 n=1 op=2\n");
  EXPECT_EQ(replayed(imported), "C4 at op 2, with op 1");
}

TEST(CallersFault, FullHalfWithALivePeer) {
  expect_fault(
      log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), release("free_full", "[[4, 4]]", R"(, "full": 32, "swa": 20)"),
                   extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28, "swa": 16)")}),
      "caller_fault C5 log-0.jsonl:3 n=1 op=2\n", "C5 at op 2, with op 1");
}

TEST(CallersFault, PeersFreedTwice) {
  expect_fault(
      log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), release("free_swa", "[[4, 4]]"), release("free_swa", "[[4, 4]]")}),
      "caller_fault C1 log-0.jsonl:4 n=2 op=3\n", "C1 at op 3, with op 2");
}

TEST(CallersFault, Groups) {
  expect_fault(
      log(paged, {call("free_group_begin"), call("free_group_begin"), call("free_group_end"), call("free_group_end")}),
      "caller_fault C6 log-0.jsonl:3 n=1 op=2\ncaller_fault C6 log-0.jsonl:5 n=3 op=4\n", "C6 at op 2, with op 1");
}

TEST(CallersFault, GoesOnFromAFreedLoc) {
  expect_fault(log(paged, {extend(0, 6, -1, "[[4, 6]]"), release("free", "[[4, 6]]"), decode(7, 9, "[[10, 1]]")}),
               "caller_fault C7 log-0.jsonl:4 n=2 op=3\n", "C7 at op 3, with op 2");
}

TEST(CallersFault, OneRequestOfABatch) {
  const Imported imported = import_text(
      log(paged,
          {extend(0, 6, -1, "[[4, 6]]"), extend(0, 2, -1, "[[12, 2]]"), release("free", "[[4, 6]]"),
           R"("call": "alloc_decode", "seq_lens": [7, 3], "last_locs": [[9, 1], [13, 1]], "locs": [[10, 1], [14, 1]])",
           release("free", "[[12, 3]]")}));
  EXPECT_EQ(findings_text(imported), "caller_fault C7 log-0.jsonl:5 n=3 op=5\n");
  EXPECT_EQ(ops_of(imported),
            "extend r0 0..6\nextend r1 0..2\nfree r0 0..6\ndecode r1\nextend r0 6..7\nfree r1 0..3\n");
}

TEST(CallersFault, SlotsGivenBackTwice) {
  expect_fault(log(token, {call("take_slot", R"("slot": 1)"), call("give_slot", R"("slot": 1)"),
                           call("give_slot", R"("slot": 1)")}),
               "caller_fault C9 log-0.jsonl:4 n=2 op=3\n", "C9 at op 3, with op 0");
}

TEST(CallersFault, ClearInsideAGroup) {
  expect_fault(log(paged, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28)"), call("free_group_begin"),
                           call("clear", R"("full": 32)"), extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28)")}),
               "caller_fault C6 log-0.jsonl:4 n=2 op=3\n", "C6 at op 3, with op 2");
}

TEST(CallersFault, WhatFollowsIsNotTheAllocators) {
  // The double free makes the same page go out twice, and more available than there is.
  const Imported imported = import_text(
      log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]", R"(, "full": 32)"),
                  release("free", "[[4, 4]]", R"(, "full": 36)"), extend(0, 4, -1, "[[4, 4]]", R"(, "full": 32)"),
                  extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28)"), release("free", "[[4, 4]]", R"(, "full": 32)")}));
  EXPECT_EQ(findings_text(imported), "caller_fault C1 log-0.jsonl:4 n=2 op=3\n");
}

// ---- violations

void expect_violation(const std::string& text, const std::string& findings) {
  const Imported imported = import_text(text);
  EXPECT_EQ(imported.fault, "");
  EXPECT_EQ(findings_text(imported), findings) << imported.trace;
  EXPECT_TRUE(parse_trace(imported.trace, "lifted")) << imported.trace;
}

TEST(Violation, CountsThatAreWrongOnceAreToldOnce) {
  expect_violation(
      log(paged, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 24)"), extend(0, 4, -1, "[[8, 4]]", R"(, "full": 20)"),
                  release("free", "[[4, 4]]", R"(, "full": 24)")}),
      "violation AVAIL_EXACT log-0.jsonl:2 n=0 op=1\n");
}

TEST(Violation, MoreThanThePoolHas) {
  expect_violation(log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]", R"(, "full": 36)")}),
                   "violation AVAIL_LE_SIZE log-0.jsonl:3 n=1 op=2\n");
}

TEST(Violation, AFreshPoolThatIsNotFull) {
  const Imported imported = import_text(header(paged, R"("fresh": true, "gauges": {"full_available": 28})"));
  EXPECT_EQ(findings_text(imported), "violation AVAIL_EXACT log-0.jsonl:1 n=0\n");
}

TEST(Violation, ExpectedAgainstRecorded) {
  const Imported imported = import_text(log(hybrid, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28, "swa": 16)")}));
  ASSERT_EQ(imported.report.findings.kept().size(), 1U);
  const LogFinding& finding = imported.report.findings.kept()[0];
  EXPECT_EQ(finding.what, "the SWA available size is wrong");
  EXPECT_EQ(finding.expected, "20 of 24 tokens");
  EXPECT_EQ(finding.recorded, "16");
  EXPECT_EQ(finding.call, "alloc_extend");
}

TEST(Violation, RefusedThoughItFits) {
  const Imported imported = import_text(
      log(paged, {extend(0, 6, -1, "[[4, 6]]", R"(, "full": 24)"), extend(6, 12, 9, "null", R"(, "full": 24)"),
                  extend(6, 8, 9, "[[10, 2]]", R"(, "full": 24)"), release("free", "[[4, 8]]", R"(, "full": 32)")}));
  EXPECT_EQ(findings_text(imported), "violation SERVED_WHEN_FITS log-0.jsonl:3 n=1 op=2\n");
  EXPECT_EQ(replayed(imported), "holds") << imported.trace;
}

TEST(Violation, RefusedAndHalfDone) {
  expect_violation(log(paged, {extend(0, 36, -1, "null", R"(, "full": 28)")}),
                   "violation ALL_OR_NOTHING log-0.jsonl:2 n=0 op=1\n");
}

TEST(Violation, LentTwice) {
  const Imported imported = import_text(
      log(paged, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28)"), extend(0, 4, -1, "[[4, 4]]", R"(, "full": 24)"),
                  release("free", "[[4, 4]]", R"(, "full": 28)"), release("free", "[[4, 4]]", R"(, "full": 32)")}));
  EXPECT_EQ(findings_text(imported), "violation NO_DOUBLE_LEND log-0.jsonl:3 n=1 op=2\n");
  EXPECT_EQ(ops_of(imported), "extend r0 0..4\nextend r1 0..4\nfree r1 0..4\nfree r0 0..4\n");
}

TEST(Violation, LentBeforeTheGroupEnds) {
  expect_violation(log(paged, {extend(0, 4, -1, "[[4, 4]]"), call("free_group_begin"), release("free", "[[4, 4]]"),
                               extend(0, 4, -1, "[[4, 4]]"), call("free_group_end")}),
                   "violation GROUP_DEFERS log-0.jsonl:5 n=3 op=4\n");
}

TEST(Violation, CreditedBeforeTheGroupEnds) {
  expect_violation(
      log(paged, {extend(0, 4, -1, "[[4, 4]]"), call("free_group_begin"),
                  release("free", "[[4, 4]]", R"(, "full": 32)"), call("free_group_end", R"("full": 32)")}),
      "violation GROUP_DEFERS log-0.jsonl:4 n=2 op=3\n");
}

TEST(Violation, LocsOutOfPlace) {
  expect_violation(log(paged, {extend(0, 4, -1, "[[0, 4]]")}), "violation SENTINEL_UNTOUCHED log-0.jsonl:2 n=0 op=1\n");
  expect_violation(log(paged, {extend(0, 4, -1, "[[36, 4]]")}), "violation FREE_LIST_CLEAN log-0.jsonl:2 n=0 op=1\n");
  expect_violation(log(paged, {extend(0, 4, -1, "[[5, 4]]")}), "violation PAGE_LAYOUT log-0.jsonl:2 n=0 op=1\n");
  expect_violation(log(paged, {extend(0, 4, -1, "[[4, 2], [8, 2]]")}),
                   "violation PAGE_LAYOUT log-0.jsonl:2 n=0 op=1\n");
  expect_violation(log(paged, {extend(0, 4, -1, "[[4, 3]]")}), "violation PAGE_LAYOUT log-0.jsonl:2 n=0\n");
  expect_violation(log(paged, {extend(0, 2, -1, "[[4, 2]]"), decode(3, 5, "[[8, 1]]")}),
                   "violation PAGE_LAYOUT log-0.jsonl:3 n=1 op=2\n");
}

TEST(Violation, Raised) {
  const std::string error = R"(, "error": {"type": "AssertionError", "text": "", "where": "swa.py:200"}, "full": 32)";
  const Imported imported = import_text(log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]", error)}));
  EXPECT_EQ(findings_text(imported), "violation RAISED log-0.jsonl:3 n=1 op=2\n");
  EXPECT_EQ(imported.report.findings.kept()[0].what, "the engine raised AssertionError (swa.py:200)");
}

TEST(Violation, AnErrorThatTheCallerEarnedIsTheCallers) {
  const Imported imported = import_text(
      log(paged, {call("free_group_begin"), call("free_group_begin", R"("error": {"type": "AssertionError"})")}));
  EXPECT_EQ(findings_text(imported), "caller_fault C6 log-0.jsonl:3 n=1 op=2\nnote log-0.jsonl:3 n=1\n");
}

TEST(Violation, ASlotTwice) {
  expect_violation(log(token, {call("take_slot", R"("slot": 1)"), call("take_slot", R"("slot": 1)")}),
                   "violation RING_SLOT_EXCLUSIVE log-0.jsonl:3 n=1 op=2\n");
}

TEST(Violation, TheTraceMayEndThere) {
  const std::string text = log(paged, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 24)"), extend(0, 4, -1, "[[8, 4]]")});
  const Imported imported = import_text(text, {.until_violation = true});
  EXPECT_TRUE(imported.report.ended_early);
  EXPECT_EQ(ops_of(imported), "extend r0 0..4\n");
}

// ---- what the log does not tell

TEST(Gaps, LentBeforeTheRecording) {
  const Imported imported =
      import_text(log(paged,
                      {release("free", "[[4, 4]]", R"(, "full": 20)"), decode(7, 9, "[[10, 1]]"),
                       release("free", "[[8, 3]]", R"(, "full": 24)"), extend(0, 4, -1, "[[4, 4]]", R"(, "full": 20)"),
                       release("free", "[[4, 4]]", R"(, "full": 24)"), release("free", "[[4, 4]]")},
                      R"("fresh": false, "gauges": {"full_available": 16})"));
  EXPECT_EQ(findings_text(imported),
            "note log-0.jsonl:2 n=0\nnote log-0.jsonl:3 n=1\ncaller_fault C1 log-0.jsonl:7 n=5 op=8\n");
  EXPECT_EQ(replayed(imported), "C1 at op 8, with op 7");
}

TEST(Gaps, MissingCalls) {
  std::string text = log(paged, {extend(0, 4, -1, "[[4, 4]]", R"(, "full": 28)")});
  text += "{\"n\": 1, \"lost\": 2}\n";
  text += "{\"n\": 3, " + extend(0, 4, -1, "[[4, 4]]", R"(, "full": 24)") + "}\n";
  text += "{\"n\": 6, " + release("free", "[[4, 8]]", R"(, "full": 32)") + "}\n";
  text += "{\"n\": 7, " + release("free", "[[4, 4]]", R"(, "full": 32)") + "}\n";
  const Imported imported = import_text(text);
  EXPECT_EQ(imported.report.missing, 4U);
  EXPECT_EQ(findings_text(imported),
            "note log-0.jsonl:3 n=1\n"  // two calls lost
            "note log-0.jsonl:4 n=3\n"  // page 1 was given back in them
            "note log-0.jsonl:5 n=6\n"  // numbers 4 and 5 are not there
            "note log-0.jsonl:5 n=6\n"  // page 2 was lent in them
            "caller_fault C1 log-0.jsonl:6 n=7 op=6\n");
}

TEST(Gaps, GroupsAcrossMissingCalls) {
  std::string text = log(paged, {call("free_group_begin")});
  text +=
      "{\"n\": 1, \"lost\": 1}\n{\"n\": 2, \"call\": \"free_group_begin\"}\n{\"n\": 3, \"call\": \"free_group_end\"}\n";
  const Imported imported = import_text(text);
  EXPECT_FALSE(imported.report.findings.wrong()) << findings_text(imported);
  EXPECT_EQ(replayed(imported), "holds");
}

TEST(Gaps, ACutLine) {
  const std::string whole = log(paged, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]")});
  for (const std::size_t cut : {std::size_t{1}, std::size_t{10}, std::size_t{40}}) {
    const Imported imported = import_text(whole.substr(0, whole.size() - cut));
    EXPECT_EQ(imported.fault, "");
    const bool complete = cut == 1;  // the end of the line alone is missing
    EXPECT_EQ(imported.report.cut_files.size(), complete ? 0U : 1U);
    EXPECT_EQ(imported.report.calls, complete ? 2U : 1U);
  }
}

TEST(Gaps, SeveralFiles) {
  const std::string first = log(paged, {extend(0, 4, -1, "[[4, 4]]")});
  std::string second = header(paged);
  second.replace(second.find("\"file\": 0, \"n\": 0"), 17, "\"file\": 1, \"n\": 1");
  second += "{\"n\": 1, " + release("free", "[[4, 4]]") + "}\n";
  const Imported imported = import_texts({first, second});
  EXPECT_EQ(findings_text(imported), "");
  EXPECT_EQ(imported.report.files, 2U);
  EXPECT_EQ(ops_of(imported), "extend r0 0..4\nfree r0 0..4\n");
  EXPECT_EQ(import_texts({second, first}).fault,
            "log-1.jsonl:1: file 0 of the session comes after file 1; expected the files in order");
  // The second alone: what came before is unknown, and nobody's fault.
  EXPECT_FALSE(import_text(second).report.findings.wrong());
  EXPECT_FALSE(import_text(second).report.header.fresh);
}

// ---- malformed logs

TEST(Malformed, NamesThePlaceAndWhatWasExpected) {
  const std::string head = header(paged);
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "log-0.jsonl:1: the file is empty; expected a header: {\"poolproof_log\": 1, ...}"},
      {"{\"n\": 0, \"call\": \"clear\"}\n",
       "log-0.jsonl:1: the file does not begin with a header; expected {\"poolproof_log\": 1, ...}"},
      {head + "nonsense\n", "log-0.jsonl:2: byte 2 is no JSON; expected one JSON object a line"},
      {head + "[1]\n", "log-0.jsonl:2: the line is no JSON object; expected a header, a call or a loss"},
      {head + "{\"n\": 0}\n", "log-0.jsonl:2: 'call' is missing; expected a header, a call or a loss"},
      {head + "{\"call\": \"clear\"}\n",
       "log-0.jsonl:2: 'n' is missing; expected a whole number from 0 to 1152921504606846976"},
      {head + "{\"n\": 0, \"call\": \"alocate\"}\n",
       "log-0.jsonl:2: no call is named 'alocate'; expected a call of docs/external.md, such as alloc_extend"},
      {head + "{\"n\": 0, \"call\": \"free\"}\n",
       "log-0.jsonl:2: 'locs' is missing; expected an array of runs [first, count], count from 1 on"},
      {head + "{\"n\": 0, \"call\": \"free\", \"locs\": [[1, 0]]}\n",
       "log-0.jsonl:2: 'locs' has [1,0]; expected an array of runs [first, count], count from 1 on"},
      {head + "{\"n\": 0, \"call\": \"free\", \"locs\": [[1, 2, 3]]}\n",
       "log-0.jsonl:2: 'locs' has [1,2,3]; expected an array of runs [first, count], count from 1 on"},
      {head + "{\"n\": 0, \"call\": \"alloc_decode\", \"seq_lens\": [0], \"last_locs\": [[1, 1]], \"locs\": null}\n",
       "log-0.jsonl:2: 'seq_lens' has 0; expected an array of whole numbers from 1 to 1073741824"},
      {head + "{\"n\": 0, \"call\": \"alloc_decode\", \"seq_lens\": [2, 3], \"last_locs\": [[1, 1]], \"locs\": null}\n",
       "log-0.jsonl:2: 2 prefix_lens, 2 seq_lens and 1 last_locs; expected as many of each"},
      {head + "{\"n\": 0, " + extend(5, 4, 3, "null") + "}\n",
       "log-0.jsonl:2: request 0 has prefix length 5 and sequence length 4; expected a prefix no longer than the "
       "sequence"},
      {head + "{\"n\": 0, \"call\": \"clear\", \"full\": 1.5}\n",
       "log-0.jsonl:2: 'full' has 1.5; expected a whole number from -2147483648 to 1099511627776"},
      {head + "{\"n\": 0, \"call\": \"clear\", \"error\": 7}\n",
       "log-0.jsonl:2: 'error' has 7; expected an object with type, text and where"},
      {head + "{\"n\": 4, \"call\": \"clear\"}\n{\"n\": 3, \"call\": \"clear\"}\n",
       "log-0.jsonl:3: call 3 comes after call 4; expected calls in order"},
      {head + head, "log-0.jsonl:2: a second header in one file; expected a call"},
      {"{\"poolproof_log\": 2}\n", "log-0.jsonl:1: the log is of another version; expected poolproof_log 1"},
      {"{\"poolproof_log\": 1}\n",
       "log-0.jsonl:1: 'geometry' is missing; expected an object with layout, page, full, ..."},
      {header(R"("layout": "flat", "page": 4, "full": 32)"),
       "log-0.jsonl:1: the geometry's layout is 'flat'; expected token, paged, hybrid or pure_swa"},
      {header(R"("layout": "paged", "page": 4)"),
       "log-0.jsonl:1: in the geometry 'full' is missing; expected a whole number from 1 to 1073741824"},
  };
  for (const auto& [text, fault] : bad) {
    EXPECT_EQ(import_text(text).fault, fault);
  }
}

TEST(Malformed, OtherSessions) {
  std::string other = header(paged);
  other.replace(other.find("\"s\""), 3, "\"z\"");
  EXPECT_EQ(import_texts({header(paged), other}).fault,
            "log-1.jsonl:1: session 'z' is not 's', that of the first file; expected files of one session; import each "
            "session by itself");
}

TEST(Malformed, AnyBytesAreRefusedOrRead) {
  const std::string whole = log(hybrid, {extend(0, 4, -1, "[[4, 4]]"), release("free", "[[4, 4]]")});
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    for (const char c : {'\0', '\x80', '"', '9', '-', '\n', '}'}) {
      std::string text = whole;
      text[at] = c;
      const Imported imported = import_text(text);
      EXPECT_TRUE(!imported.fault.empty() || parse_trace(imported.trace, "lifted")) << text;
    }
  }
}

}  // namespace
}  // namespace poolproof
