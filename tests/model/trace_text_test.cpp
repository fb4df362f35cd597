#include "model/trace_text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace poolproof {
namespace {

const std::string paged_header = "poolproof 1\npool layout=paged page=4 full=8p reqs=2\n";
const std::string hybrid_header = "poolproof 1\npool layout=hybrid page=4 full=8p swa=4p window=6 reqs=2\n";

Trace parsed(const std::string& text) {
  const Result<Trace, TextError> trace = parse_trace(text, "x.trace");
  if (!trace.ok()) {
    ADD_FAILURE() << trace.error().render();
    return {};
  }
  return *trace;
}

TextError error_of(std::string_view text, const TextLimits& limits = {}) {
  Result<Trace, TextError> trace = parse_trace(text, "x.trace", limits);
  if (trace.ok()) {
    ADD_FAILURE() << "parsed: " << text.substr(0, 200);
    return {};
  }
  return trace.error();
}

std::string render_of(std::string_view text) { return error_of(text).render(); }

/// The one op of a line on the hybrid pool.
Op op_of(const std::string& line) {
  const Trace trace = parsed(hybrid_header + line + "\n");
  if (trace.ops.size() != 1) {
    ADD_FAILURE() << line << ": " << trace.ops.size() << " ops";
    return op::Clear{};
  }
  return trace.ops.front();
}

/// The first line of the error that a line on the hybrid pool gives: "column: message; expected ...".
std::string complaint(const std::string& line) {
  const TextError error = error_of(hybrid_header + line + "\n");
  EXPECT_EQ(error.line, 3U) << line;
  std::string text = std::to_string(error.column) + ": " + error.message;
  return error.expected.empty() ? text : text + "; expected " + error.expected;
}

TEST(TraceText, ReadsOpsOnMemory) {
  const auto of = [](const std::string& line) {
    return parsed("poolproof 1\npool layout=paged page=4 full=8 kv=mha weights=100\n" + line + "\n").ops.front();
  };
  EXPECT_EQ(of("pause kv_cache"), Op(op::Pause{MemoryTag::kv_cache}));
  EXPECT_EQ(of("pause weights"), Op(op::Pause{MemoryTag::weights}));
  EXPECT_EQ(of("resume all  # both"), Op(op::Resume{MemoryTag::all}));
  EXPECT_EQ(of("destroy"), Op(op::Destroy{}));
  EXPECT_EQ(of("build"), Op(op::Build{}));
  EXPECT_EQ(of("flush"), Op(op::Flush{}));
}

TEST(TraceText, ReadsEachFormOfEachOp) {
  const auto same = [](const std::string& line, const Op& op) { EXPECT_EQ(op_of(line), op) << line; };
  same("slot r0", op::SlotTake{0});
  same("unslot r65535", op::SlotGive{65535});
  same("extend r0 0..600, r1 0..40", op::Extend{{{0, {0, 600}}, {1, {0, 40}}}});
  same("extend r0 0..600", op::Extend{{{0, {0, 600}}}});
  same("decode r0, r1", op::Decode{{0, 1}});
  same("tail r2 0..1000 swa=896..1000", op::Tail{2, {0, 1000}, {896, 1000}});
  same("free r0 0..4, r1 0..4", op::Free{Side::both, {{0, {0, 4}}, {1, {0, 4}}}});
  same("free_swa r0 0..4", op::Free{Side::swa, {{0, {0, 4}}}});
  same("free_full r0 0..4", op::Free{Side::full, {{0, {0, 4}}}});
  same("free_segment r0 0..8, 12..16", op::FreeSegment{Side::both, 0, {{0, 8}, {12, 16}}});
  same("free_swa_segment r0 0..8", op::FreeSegment{Side::swa, 0, {{0, 8}}});
  same("free_full_segment r0 0..8", op::FreeSegment{Side::full, 0, {{0, 8}}});
  same("copy r1 0..256 = r0", op::Copy{1, {0, 256}, 0});
  same("drop r1 0..256", op::Drop{1, {0, 256}});
  same("trim r0 598", op::Trim{0, 598});
  same("remap r1 0..256 <- r0 4..260", op::Remap{1, {0, 256}, 0, 4});
  same("remap r1 4..256 <- r0", op::Remap{1, {4, 256}, 0, 4});
  same("unmap r0 0..4", op::Unmap{0, {0, 4}});
  same("write r0 0..600", op::Write{0, {0, 600}});
  same("read r0 3..600", op::Read{0, {3, 600}});
  same("group_begin", op::GroupBegin{});
  same("group_begin again", op::GroupBegin{true});
  same("group_end", op::GroupEnd{});
  same("group_end again", op::GroupEnd{true});
  same("backup b0", op::Backup{0});
  same("restore b255", op::Restore{255});
  same("clear", op::Clear{});
  same("resize full=16p swa=8p", op::Resize{64, 32});
  same("resize swa=32 full=16p", op::Resize{64, 32});
  same("expect available full=15p swa=3p", op::Expect{60, 12, {}, {}});
  same("expect available swa=3", op::Expect{{}, 3, {}, {}});
  same("expect slots 2", op::Expect{{}, {}, 2, {}});
  same("expect refused", op::Expect{{}, {}, {}, true});
  same("expect served", op::Expect{{}, {}, {}, false});
  same("expect served slots 2 available full=0", op::Expect{0, {}, 2, false});
  EXPECT_EQ(parsed(paged_header + "alloc r0 0..8\n").ops, std::vector<Op>{(op::Alloc{0, {0, 8}})});
  EXPECT_EQ(parsed(paged_header + "resize full=16p\n").ops, std::vector<Op>{(op::Resize{64, 0})});
}

TEST(TraceText, BlanksCommentsAndLineEndsDoNotMatter) {
  const Trace plain = parsed("poolproof 1\npool layout=paged page=4 full=8p\nextend r0 0..4, r1 0..8\nfree r0 0..4\n");
  std::string text =
      "# a comment\r\n\r\n  poolproof \t1 # the language\r\n#\n\tpool  page=4\tfull=32   layout=paged#x\r\n"
      "\t extend\tr0 0..4 ,r1   0..8 # positions \xe2\x82\xac ? \n \t \n   free r0 0..4#";
  text[text.find('?')] = '\0';
  const Trace loose = parsed(text);
  EXPECT_EQ(loose.geometry, plain.geometry);
  EXPECT_EQ(loose.ops, plain.ops);
  EXPECT_EQ(plain.ops.size(), 2U);
}

TEST(TraceText, OpsRememberTheirLines) {
  const Trace trace =
      parsed("poolproof 1\n\npool layout=paged full=8\n# x\nextend r0 0..4\n\ngroup {\n}\nfree r0 0..4");
  EXPECT_EQ(trace.lines, (std::vector<std::uint32_t>{5, 7, 8, 9}));
}

TEST(TraceText, PoolKeysComeInAnyOrder) {
  const Geometry wanted = {.layout = Layout::hybrid,
                           .page = 256,
                           .full = 4096,
                           .swa = 4096,
                           .ring = 256,
                           .window = 128,
                           .reqs = 4,
                           .need_sort = true};
  EXPECT_EQ(parsed("poolproof 1\npool layout=hybrid page=256 full=16p swa=16p ring=256 window=128 reqs=4 need_sort=1")
                .geometry,
            wanted);
  EXPECT_EQ(parsed("poolproof 1\npool need_sort=1 reqs=4 window=128 ring=1p swa=4096 full=16p page=256 layout=hybrid")
                .geometry,
            wanted);
}

TEST(TraceText, GroupsAreBlocksOrLoneWords) {
  const Trace trace = parsed(paged_header +
                             "group {\n  group {\n  }\n group_end\n}\ngroup_begin\ngroup_end again\ngroup_begin again\n"
                             "group{\n}\n");
  const std::vector<Op> wanted = {op::GroupBegin{}, op::GroupBegin{}, op::GroupEnd{},     op::GroupEnd{},
                                  op::GroupEnd{},   op::GroupBegin{}, op::GroupEnd{true}, op::GroupBegin{true},
                                  op::GroupBegin{}, op::GroupEnd{}};
  EXPECT_EQ(trace.ops, wanted);
}

TEST(TraceText, PrintsPairedGroupsAsBlocks) {
  Trace trace = parsed(paged_header);
  trace.ops = {op::GroupEnd{},       op::GroupBegin{}, op::Extend{{{0, {0, 4}}, {1, {0, 8}}}},
               op::GroupBegin{true}, op::GroupBegin{}, op::Free{Side::both, {{0, {0, 4}}}},
               op::GroupEnd{},       op::GroupEnd{},   op::GroupEnd{true},
               op::GroupBegin{},     op::Clear{}};
  EXPECT_EQ(print_trace(trace), paged_header +
                                    "group_end\n"
                                    "group {\n"
                                    "  extend r0 0..4, r1 0..8\n"
                                    "  group_begin again\n"
                                    "  group {\n"
                                    "    free r0 0..4\n"
                                    "  }\n"
                                    "}\n"
                                    "group_end again\n"
                                    "group_begin\n"
                                    "clear\n");
}

TEST(TraceText, CommentsGoBelowTheHeader) {
  const Trace trace = parsed(paged_header + "clear\n");
  const std::string pool = paged_header.substr(12);
  EXPECT_EQ(print_trace(trace, "found by seed 7\n\nsecond\n"),
            "poolproof 1\n# found by seed 7\n#\n# second\n" + pool + "clear\n");
  const std::string long_comment = print_trace(trace, std::string(200'000, 'x'));
  EXPECT_EQ(parsed(long_comment).ops, trace.ops);
}

TEST(TraceText, PrintsOneOpAsItsLine) {
  const Geometry g = parsed(hybrid_header).geometry;
  for (const std::string line :
       {"slot r1", "decode r0, r7", "tail r2 0..1000 swa=896..1000", "free_swa r0 0..4, r1 0..4",
        "free_full_segment r0 0..8, 12..16", "copy r1 0..256 = r0", "trim r0 598", "remap r1 0..256 <- r0 4..260",
        "backup b3", "resize full=16p swa=8p", "expect available full=15p swa=3 slots 2 refused", "group_begin again",
        "group_end", "expect served"}) {
    EXPECT_EQ(print_op(op_of(line), g), line);
  }
}

/// xorshift64*: the same stream everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return (state_ * 0x2545f4914f6cdd1dU >> 11U) % bound;
  }
  bool flip() { return below(2) == 0; }

 private:
  std::uint64_t state_;
};

class OpDice {
 public:
  OpDice(Random& random, const Geometry& g) : random_(random), g_(g) {}

  Op roll() {
    switch (random_.below(27)) {
      case 0:
        return op::SlotTake{row()};
      case 1:
        return op::SlotGive{row()};
      case 2:
        return op::Alloc{row(), range()};
      case 3:
        return op::Extend{list<Piece>([&] { return piece(); })};
      case 4:
        return op::Decode{list<Row>([&] { return row(); })};
      case 5:
        return op::Tail{row(), range(), range()};
      case 6:
        return op::Free{side(), list<Piece>([&] { return piece(); })};
      case 7:
        return op::FreeSegment{side(), row(), list<Range>([&] { return range(); })};
      case 8:
        return op::Copy{row(), range(), row()};
      case 9:
        return op::Drop{row(), range()};
      case 10:
        return op::Trim{row(), position()};
      case 11:
        return op::Remap{row(), range(), row(), position()};
      case 12:
        return op::Unmap{row(), range()};
      case 13:
        return op::Write{row(), range()};
      case 14:
        return op::Read{row(), range()};
      case 15:
        return op::GroupBegin{random_.below(4) == 0};
      case 16:
        return op::GroupEnd{random_.below(4) == 0};
      case 17:
        return op::Backup{static_cast<std::uint32_t>(random_.below(260))};
      case 18:
        return op::Restore{static_cast<std::uint32_t>(random_.below(260))};
      case 19:
        return op::Clear{};
      case 20:
        return op::Resize{position(), random_.flip() ? 0 : position()};
      case 21:
        return op::Pause{tag()};
      case 22:
        return op::Resume{tag()};
      case 23:
        return op::Destroy{};
      case 24:
        return op::Build{};
      case 25:
        return op::Flush{};
      default:
        return op::Expect{maybe(), maybe(), maybe(), random_.flip() ? std::nullopt : std::optional(random_.flip())};
    }
  }

 private:
  Row row() { return static_cast<Row>(random_.below(random_.flip() ? 4 : max_rows + 2)); }
  Side side() { return static_cast<Side>(random_.below(3)); }
  MemoryTag tag() { return static_cast<MemoryTag>(random_.below(3)); }
  Pos position() {
    const auto far =
        static_cast<Pos>(random_.below(random_.flip() ? 64 : static_cast<std::uint64_t>(max_position) + 9));
    return random_.flip() ? far / g_.page * g_.page : far;
  }
  Range range() {
    const Pos begin = position();
    return {begin, random_.flip() ? position() : begin + static_cast<Pos>(random_.below(20)) * g_.page};
  }
  Piece piece() { return {row(), range()}; }
  std::optional<std::int64_t> maybe() { return random_.flip() ? std::nullopt : std::optional(position()); }
  template <typename T, typename Make>
  std::vector<T> list(const Make& make) {
    std::vector<T> items(random_.below(random_.below(50) == 0 ? 3000 : 5));
    for (T& item : items) {
      item = make();
    }
    return items;
  }

  Random& random_;
  const Geometry& g_;
};

std::vector<Geometry> geometries() {
  return {{.layout = Layout::token, .full = 32, .reqs = 1},
          {.layout = Layout::paged, .page = 1, .full = 33},
          {.layout = Layout::paged, .page = 16, .full = 160, .reqs = 3, .need_sort = true},
          {.layout = Layout::hybrid, .page = 1, .full = 9, .swa = 7, .window = 3, .reqs = 2},
          {.layout = Layout::hybrid, .page = 256, .full = 4096, .swa = 1024, .ring = 300, .window = 128, .reqs = 4},
          {.layout = Layout::pure_swa, .full = 20, .window = 5, .need_sort = true},
          {.layout = Layout::token, .full = 16, .kv = {.kind = KvKind::mha}},
          {.layout = Layout::hybrid,
           .page = 4,
           .full = 16,
           .swa = 8,
           .window = 4,
           .kv = {.kind = KvKind::dsa,
                  .full_layers = 2,
                  .swa_layers = 3,
                  .heads = 4,
                  .head_dim = 32,
                  .type = KvType::fp8,
                  .index_bytes = 64,
                  .saver = SaverMode::backup,
                  .weights_bytes = 99}}};
}

Trace random_trace(Random& random, const Geometry& g, std::size_t ops) {
  Trace trace;
  trace.geometry = g;
  OpDice dice(random, g);
  while (trace.ops.size() < ops) {
    Op op = dice.roll();
    if (!op_fault(op, g)) {
      trace.ops.push_back(std::move(op));
    }
  }
  return trace;
}

TEST(TraceText, WhatIsPrintedReadsBackTheSame) {
  Random random(20240229);
  std::array<std::uint64_t, op_word_count> seen{};
  for (int round = 0; round < 30; ++round) {
    for (const Geometry& g : geometries()) {
      ASSERT_EQ(geometry_fault(g), std::nullopt);
      const Trace trace = random_trace(random, g, 200);
      const std::string text = print_trace(trace);
      const Trace again = parsed(text);
      ASSERT_EQ(again.geometry, trace.geometry);
      ASSERT_EQ(again.ops, trace.ops) << text;
      ASSERT_EQ(print_trace(again), text);
      for (const Op& op : trace.ops) {
        ++seen.at(static_cast<std::size_t>(word_of(op)));
      }
    }
  }
  for (std::size_t word = 0; word < op_word_count; ++word) {
    EXPECT_GT(seen.at(word), 0U) << op_word_name(static_cast<OpWord>(word)) << " was never rolled";
  }
}

TEST(TraceText, EachOpReadsBackFromItsLine) {
  Random random(7);
  for (const Geometry& g : geometries()) {
    for (const Op& op : random_trace(random, g, 300).ops) {
      const std::string text = "poolproof 1\npool " + to_string(g) + "\n" + print_op(op, g);
      ASSERT_EQ(parsed(text).ops, std::vector<Op>{op}) << text;
    }
  }
}

TEST(TraceText, GroupsDeeperThanABlockMayBeRoundTripToo) {
  Trace trace = parsed(paged_header);
  trace.ops.assign(200, op::GroupBegin{});
  trace.ops.insert(trace.ops.end(), 190, op::GroupEnd{});
  const Trace again = parsed(print_trace(trace));
  EXPECT_EQ(again.ops, trace.ops);
  EXPECT_EQ(print_trace(again), print_trace(trace));
}

TEST(TraceText, MutatedTracesNeverCrash) {
  Random random(99);
  std::size_t errors = 0;
  for (int round = 0; round < 3000; ++round) {
    const Geometry g = geometries()[random.below(geometries().size())];
    std::string text = print_trace(random_trace(random, g, 12));
    for (std::uint64_t edits = 1 + random.below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, 1 + random.below(9));
          break;
        case 2:
          text.insert(at, text.substr(random.below(text.size()), random.below(30)));
          break;
        default:
          text.resize(at);
      }
    }
    const Result<Trace, TextError> result = parse_trace(text, "x");
    if (!result.ok()) {
      ++errors;
      EXPECT_FALSE(result.error().message.empty());
      EXPECT_GT(result.error().line, 0U);
      EXPECT_FALSE(result.error().render().empty());
    } else {
      EXPECT_EQ(parsed(print_trace(*result)).ops, result->ops);
    }
  }
  EXPECT_GT(errors, 1000U);
  EXPECT_LT(errors, 3000U);
}

TEST(TraceText, RandomBytesNeverCrash) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text = random.flip() ? paged_header : std::string();
    for (std::uint64_t bytes = random.below(200); bytes > 0; --bytes) {
      text += random.flip() ? static_cast<char>(random.below(256)) : " \n#r0.,=<-{}p"[random.below(13)];
    }
    const Result<Trace, TextError> result = parse_trace(text, "x");
    if (!result.ok()) {
      const TextError& error = result.error();
      EXPECT_FALSE(error.message.empty());
      for (const char c : error.message + error.excerpt + error.expected) {
        EXPECT_TRUE(c >= ' ' && c <= '~') << error.render();
      }
      EXPECT_LE(error.excerpt.size(), 106U);
      EXPECT_LE(error.caret, error.excerpt.size() + 1);
    }
  }
}

TEST(TraceError, RowsAndRanges) {
  EXPECT_EQ(complaint("slot"), "5: the line ends too early; expected a row such as r0");
  EXPECT_EQ(complaint("slot x0"), "6: 'x0' is not a row; expected a row such as r0");
  EXPECT_EQ(complaint("slot r"), "6: 'r' is not a row; expected a row such as r0");
  EXPECT_EQ(complaint("slot r-1"), "6: 'r-1' is not a row; expected a row such as r0");
  EXPECT_EQ(complaint("slot r1x"), "6: 'r1x' is not a row; expected a row such as r0");
  EXPECT_EQ(complaint("slot r4294967296"), "7: number too large; expected a row such as r0");
  EXPECT_EQ(complaint("slot r99999999999999999999"), "7: number too large; expected a row such as r0");
  EXPECT_EQ(complaint("slot r0 r1"), "9: unexpected 'r1'; expected the end of the line");
  EXPECT_EQ(complaint("slot , r1"), "6: unexpected ','; expected a row such as r0");
  EXPECT_EQ(complaint("write r0"), "9: the line ends too early; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 # 0..4"), "10: the line ends too early; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 7"), "10: '7' is not a range; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 0-7"), "10: '0-7' is not a range; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 ..7"), "10: the range '..7' has no begin; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 7.."), "13: the range '7..' has no end; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 0.. 7"), "13: the range '0..' has no end; expected a range such as 0..8");
  EXPECT_EQ(complaint("write r0 -3..7"), "10: '-3' is negative; expected a whole number");
  EXPECT_EQ(complaint("write r0 0..-7"), "13: '-7' is negative; expected a whole number");
  EXPECT_EQ(complaint("write r0 0...7"), "13: '.7' is not a number; expected a whole number");
  EXPECT_EQ(complaint("write r0 0..0x10"), "13: '0x10' is not a number; expected a whole number");
  EXPECT_EQ(complaint("write r0 0..9223372036854775808"), "13: number too large; expected a whole number");
  EXPECT_EQ(complaint("write r0 9223372036854775808..1"), "10: number too large; expected a whole number");
}

TEST(TraceError, ListsOfPieces) {
  EXPECT_EQ(complaint("extend r0 0..4,"), "16: nothing follows the ','; expected another piece, or no ','");
  EXPECT_EQ(complaint("extend r0 0..4 r1 0..4"), "16: unexpected 'r1'; expected ',' or the end of the line");
  EXPECT_EQ(complaint("extend r0 0..4, 4..8"), "17: '4..8' is not a row; expected a row such as r0");
  EXPECT_EQ(complaint("extend r0 0..4,,"), "16: unexpected ','; expected a row such as r0");
  EXPECT_EQ(complaint("decode"), "7: the line ends too early; expected a row such as r0");
  EXPECT_EQ(complaint("decode r0, r1,"), "15: nothing follows the ','; expected another piece, or no ','");
  EXPECT_EQ(complaint("decode r0 r1"), "11: unexpected 'r1'; expected ',' or the end of the line");
  EXPECT_EQ(complaint("free_segment r0 0..8, r0 8..16"), "23: 'r0' is not a range; expected a range such as 0..8");
  EXPECT_EQ(complaint("free_segment r0 0..8,"), "22: nothing follows the ','; expected another piece, or no ','");
}

TEST(TraceError, TheMarksOfCopyRemapAndTail) {
  EXPECT_EQ(complaint("copy r1 0..4 r0"), "14: unexpected 'r0'; expected '='");
  EXPECT_EQ(complaint("copy r1 0..4 ="), "15: the line ends too early; expected a row such as r0");
  EXPECT_EQ(complaint("remap r1 0..4 = r0"), "15: unexpected '='; expected '<-'");
  EXPECT_EQ(complaint("remap r1 0..4 < r0"), "15: unexpected '<'; expected '<-'");
  EXPECT_EQ(complaint("remap r1 0..4 <- r0 0..5"),
            "21: the donor range 0..5 is not as long as the target 0..4; expected 4 positions");
  EXPECT_EQ(complaint("remap r1 0..4 <- r0 0..4 r2"), "26: unexpected 'r2'; expected the end of the line");
  EXPECT_EQ(complaint("tail r0 0..8"), "13: the line ends too early; expected 'swa='");
  EXPECT_EQ(complaint("tail r0 0..8 4..8"), "14: unexpected '4..8'; expected 'swa='");
  EXPECT_EQ(complaint("tail r0 0..8 swa=4"), "18: '4' is not a range; expected a range such as 0..8");
}

TEST(TraceError, GroupsAndTheirBraces) {
  EXPECT_EQ(complaint("group"), "6: the line ends too early; expected '{'");
  EXPECT_EQ(complaint("group { free r0 0..4"), "9: unexpected 'free'; expected the end of the line");
  EXPECT_EQ(render_of(paged_header + "group {\n} }\n"),
            "x.trace:4:3: unexpected '}'; expected the end of the line\n  } }\n    ^");
}

TEST(TraceError, GroupsHaveTheirEnd) {
  EXPECT_EQ(render_of(paged_header + "clear\n  group {\n  group {\n  }\nfree r0 0..4\n"),
            "x.trace:4:3: this group is never closed; expected a line '}' before the end of the file\n"
            "    group {\n"
            "    ^");
  EXPECT_EQ(error_of(paged_header + "group {\ngroup {\nclear\n").line, 4U) << "the innermost open one";
  EXPECT_EQ(render_of(paged_header + "group {\n}\n }\n"),
            "x.trace:5:2: '}' closes no group; expected 'group {' before it, or 'group_end'\n"
            "   }\n"
            "   ^");
  EXPECT_EQ(complaint("group_begin twice"), "13: unexpected 'twice'; expected 'again' or the end of the line");
  EXPECT_EQ(complaint("group_end again {"), "17: unexpected '{'; expected the end of the line");
}

TEST(TraceError, BlocksNestOnlySoDeep) {
  std::string text = paged_header;
  for (int i = 0; i < 64; ++i) {
    text += "group {\n";
  }
  std::string closed = text;
  for (int i = 0; i < 64; ++i) {
    closed += "}\n";
  }
  EXPECT_EQ(parsed(closed).ops.size(), 128U);
  EXPECT_EQ(render_of(text + "group {\n"),
            "x.trace:67:1: groups are nested deeper than 64; expected 'group_begin'\n  group {\n  ^");
}

TEST(TraceError, NumbersAndSizes) {
  EXPECT_EQ(complaint("trim r0"), "8: the line ends too early; expected the length to trim to");
  EXPECT_EQ(complaint("trim r0 n"), "9: 'n' is not a number; expected a whole number");
  EXPECT_EQ(complaint("trim r0 -1"), "9: '-1' is negative; expected a whole number");
  EXPECT_EQ(complaint("trim r0 99999999999999999999"), "9: number too large; expected a whole number");
  EXPECT_EQ(complaint("backup 0"), "8: '0' is not a backup's name; expected a backup's name such as b0");
  EXPECT_EQ(complaint("restore"), "8: the line ends too early; expected a backup's name such as b0");
  EXPECT_EQ(complaint("backup b300"), "8: backup b300 is too large; backups are b0..b255");
  EXPECT_EQ(complaint("resize"), "7: the new size of the pool is missing; expected full=TOKENS or full=PAGESp");
  EXPECT_EQ(complaint("resize full"), "12: 'full' has no value; expected '=' and the value, without blanks");
  EXPECT_EQ(complaint("resize full= 4"), "13: 'full=' has no value; expected tokens (4096) or pages (16p)");
  EXPECT_EQ(complaint("resize full=4x"), "13: '4x' is not a size; expected tokens (4096) or pages (16p)");
  EXPECT_EQ(complaint("resize full=9223372036854775807p"),
            "13: number too large; expected tokens (4096) or pages (16p)");
  EXPECT_EQ(complaint("resize full=8p full=8p"), "16: 'full' is given twice");
  EXPECT_EQ(complaint("resize full=8p"), "1: a hybrid pool is resized on both sides; give swa=TOKENS or swa=PAGESp");
  EXPECT_EQ(complaint("resize full=8p swa=0"), "20: swa=0 is not a pool size; it is at least one page");
  EXPECT_EQ(complaint("resize full=8p swa=6"), "20: swa=6 is not a multiple of page=4; for 6 pages write swa=6p");
  EXPECT_EQ(complaint("resize 8p"), "8: unexpected '8p'; expected full= or swa=");
}

TEST(TraceError, Expectations) {
  const std::string items = "available, slots N, refused or served";
  EXPECT_EQ(complaint("expect"), "7: the line ends too early; expected " + items);
  EXPECT_EQ(complaint("expect nothing"), "8: unexpected 'nothing'; expected " + items);
  EXPECT_EQ(complaint("expect available"), "17: 'available' names no side; expected full=N or swa=N");
  EXPECT_EQ(complaint("expect full=4"), "8: 'full' without 'available' before it; expected " + items);
  EXPECT_EQ(complaint("expect available full=4 full=4"), "25: 'full' is given twice");
  EXPECT_EQ(complaint("expect available available full=4"), "18: 'available' is given twice");
  EXPECT_EQ(complaint("expect slots"), "13: the line ends too early; expected the number of free request slots");
  EXPECT_EQ(complaint("expect slots 2 slots 2"), "16: 'slots' is given twice");
  EXPECT_EQ(complaint("expect refused refused"), "16: 'refused' is given twice");
  EXPECT_EQ(complaint("expect refused served"), "16: an op is either refused or served");
  EXPECT_EQ(error_of(paged_header + "expect available swa=4").message,
            "layout=paged has no SWA side; expect full alone");
}

TEST(TraceError, UnknownOpsSuggestTheNearest) {
  EXPECT_EQ(complaint("extned r0 0..4"), "1: unknown op 'extned', did you mean 'extend'?");
  EXPECT_EQ(complaint("  free_segments r0 0..4"), "3: unknown op 'free_segments', did you mean 'free_segment'?");
  EXPECT_EQ(complaint("frobnicate"), "1: unknown op 'frobnicate'; expected an op such as extend, free or expect");
  EXPECT_EQ(complaint("EXTEND r0 0..4"), "1: unknown op 'EXTEND', did you mean 'extend'?");
  EXPECT_EQ(complaint("poolproof 1"), "1: a second 'poolproof' line; expected an op");
  EXPECT_EQ(complaint("  pool layout=token full=8"), "3: a second pool line; expected an op");
  EXPECT_EQ(complaint("\x01"), "1: unknown op '\\x01'; expected an op such as extend, free or expect");
  EXPECT_EQ(complaint(std::string(100, 'a')),
            "1: unknown op '" + std::string(40, 'a') + "...'; expected an op such as extend, free or expect");
}

TEST(TraceError, StaticFaultsPointAtTheirPart) {
  EXPECT_EQ(complaint("extend r0 0..4, r70000 0..4"), "17: row r70000 is too large; rows are r0..r65535");
  EXPECT_EQ(complaint("extend r0 0..4, r1 4..4, r2 0..4"),
            "20: the range 4..4 is empty; its end must be above its begin");
  EXPECT_EQ(complaint("copy r1 0..4=r65536"), "14: row r65536 is too large; rows are r0..r65535");
  EXPECT_EQ(complaint("remap r1 0..4 <- r0 1073741824..1073741828"),
            "21: the donor range starts at 1073741824; it must lie in 0..1073741824");
  EXPECT_EQ(complaint("remap r1 2..4 <- r0"),
            "10: the target 2..4 starts inside a page; start it at a multiple of "
            "page=4");
  EXPECT_EQ(complaint("tail r0 0..8 swa=4..9"), "18: swa=4..9 is not inside 0..8");
  EXPECT_EQ(complaint("free_segment r0 0..4, 8..8"), "23: the range 8..8 is empty; its end must be above its begin");
  EXPECT_EQ(complaint("trim r0 2000000000"), "9: length 2000000000 is too large; 1073741824 is the most");
  EXPECT_EQ(complaint("  alloc r0 0..4"), "3: layout=hybrid does not offer alloc with page=4; use extend");
  EXPECT_EQ(error_of(paged_header + "alloc r0 0..3").column, 10U);
}

TEST(TraceError, TheOpeningLines) {
  EXPECT_EQ(render_of(""), "x.trace:1:1: the trace is empty; expected the line 'poolproof 1'");
  EXPECT_EQ(render_of("# nothing\n\n"), "x.trace:2:1: the trace has no header; expected the line 'poolproof 1'");
  EXPECT_EQ(render_of("extend r0 0..4\n"),
            "x.trace:1:1: a trace starts with 'poolproof', not 'extend'; expected the line 'poolproof 1'\n"
            "  extend r0 0..4\n"
            "  ^");
  EXPECT_EQ(error_of("poolproof").message, "the version of the language is missing");
  EXPECT_EQ(error_of("poolproof=1").message, "unexpected '='");
  EXPECT_EQ(error_of("poolproof two").message, "'two' is not a version");
  EXPECT_EQ(error_of("poolproof 2").message, "version 2 of the language is unknown");
  EXPECT_EQ(error_of("poolproof 99999999999999999999").message, "number too large");
  EXPECT_EQ(error_of("poolproof 1 x").message, "unexpected 'x'");
  EXPECT_EQ(error_of("\xef\xbb\xbfpoolproof 1").message, "the file starts with a byte order mark; save it without");
  EXPECT_EQ(render_of("poolproof 1\n"),
            "x.trace:1:12: the trace has no pool line; expected a line such as 'pool layout=paged page=16 full=64p'\n"
            "  poolproof 1\n"
            "             ^");
  EXPECT_EQ(error_of("poolproof 1\nslot r0\n").message, "'slot' stands before the pool line");
}

std::string pool_complaint(const std::string& keys) {
  const TextError error = error_of("poolproof 1\npool " + keys + "\nclear\n");
  EXPECT_EQ(error.line, 2U);
  return std::to_string(error.column) + ": " + error.message;
}

TEST(TraceError, ThePoolLine) {
  EXPECT_EQ(pool_complaint("layout=paged page=256 full=16"),
            "33: full=16 is not a multiple of page=256; for 16 pages write full=16p");
  EXPECT_EQ(pool_complaint("full=16p layout=paged page=3"), "33: page=3 is not a power of two from 1 to 65536");
  EXPECT_EQ(pool_complaint("page=4 full=8p layout=hybrid window=4"),
            "43: layout=hybrid needs the size of its SWA pool; give swa=TOKENS or swa=PAGESp");
  EXPECT_EQ(pool_complaint("layout"), "12: 'layout' has no value");
  EXPECT_EQ(pool_complaint("page= full=4"), "11: 'page=' has no value");
  EXPECT_EQ(pool_complaint("page = 4"), "10: 'page' has no value");
  EXPECT_EQ(pool_complaint("page=4 full=8p page=4"), "21: 'page' is given twice");
  EXPECT_EQ(pool_complaint("page=4, full=8p"), "12: unexpected ','");
  EXPECT_EQ(pool_complaint("pages=4 full=8p"), "6: unknown key 'pages', did you mean 'page'?");
  EXPECT_EQ(pool_complaint("full=8q"), "11: full=8q: give tokens (4096) or pages (16p)");
  EXPECT_EQ(pool_complaint("full=99999999999999999999"), "11: full=99999999999999999999: number too large");
  EXPECT_EQ(pool_complaint(""), "6: the pool has no size; give full=TOKENS or full=PAGESp");
}

TEST(TraceError, TheExcerptIsPrintableAndCutAroundThePlace) {
  EXPECT_EQ(render_of(paged_header + "free\tr0 0..4 \x01\xc3\xa4\x7f rest"),
            "x.trace:3:14: unexpected '\\x01\\xc3\\xa4\\x7f'; expected ',' or the end of the line\n"
            "  free\\tr0 0..4 \\x01\\xc3\\xa4\\x7f rest\n"
            "                ^");
  std::string wide = "free r0 0..4";
  for (int i = 1; i < 40; ++i) {
    wide += ", r" + std::to_string(i) + (i == 20 ? " 0.4" : " 0..4");
  }
  EXPECT_EQ(
      render_of(paged_header + wide),
      "x.trace:3:200: '0.4' is not a range; expected a range such as 0..8\n"
      "  ...0..4, r15 0..4, r16 0..4, r17 0..4, r18 0..4, r19 0..4, r20 0.4, r21 0..4, r22 0..4, r23 0..4, r2...\n"
      "                                                                 ^");
  const TextError error = error_of(paged_header + wide);
  EXPECT_EQ(error.excerpt.substr(error.caret - 1, 4), "0.4,");
}

TEST(TraceLimits, LinesPiecesOpsAndFiles) {
  TextLimits limits;
  limits.line_bytes = 60;
  limits.pieces_per_op = 3;
  limits.ops = 2;
  const auto fault = [&](const std::string& text) {
    const TextError error = error_of(paged_header + text, limits);
    return std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message;
  };
  EXPECT_EQ(fault("clear # " + std::string(60, 'x') + "\n"), "3:61: the line is longer than 60 bytes");
  EXPECT_EQ(fault("decode r0, r1, r2, r3\n"), "3:20: more than 3 pieces in one op");
  EXPECT_EQ(fault("free r0 0..1, r0 0..1, r0 0..1, r0 0..1\n"), "3:33: more than 3 pieces in one op");
  EXPECT_EQ(fault("free_segment r0 0..1, 2..3, 4..5, 6..7\n"), "3:35: more than 3 pieces in one op");
  EXPECT_EQ(fault("clear\nclear\n  clear\n"), "5:3: more than 2 ops");
  EXPECT_TRUE(parse_trace(paged_header + "clear # " + std::string(52, 'x') + "\r\nclear\n", "x", limits).ok());
  EXPECT_TRUE(parse_trace(paged_header + "decode r0, r1, r2\n", "x", limits).ok());
  limits.file_bytes = paged_header.size();
  EXPECT_TRUE(parse_trace(paged_header, "x", limits).ok());
  EXPECT_EQ(error_of(paged_header + "\n", limits).render(), "x.trace: the trace is larger than 52 bytes");
}

class TraceFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() /
           (std::string("poolproof-") + test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directory(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (dir_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// The error of a file as a whole, without the file's name.
  static std::string fault_of(const std::string& path, const TextLimits& limits = {}) {
    const Result<Trace, TextError> trace = load_trace(path, limits);
    EXPECT_FALSE(trace.ok());
    if (trace.ok()) {
      return {};
    }
    EXPECT_EQ(trace.error().line, 0U);
    EXPECT_EQ(trace.error().render(), path + ": " + trace.error().message);
    return trace.error().message;
  }

 private:
  std::filesystem::path dir_;
};

TEST_F(TraceFiles, AnEndlessLineOfAPipeIsReadNoFurtherThanALineGoes) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("poolproof 1\npool layout=token full=8\n", file);
  const std::string filler(std::size_t{1} << 20, 'a');
  for (int i = 0; i < 8; ++i) {
    std::fwrite(filler.data(), 1, filler.size(), file);
  }
  std::rewind(file);
  const auto trace = read_trace(file, "pipe");
  const long read = std::ftell(file);
  std::fclose(file);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().line, 3U);
  EXPECT_NE(trace.error().message.find("longer than"), std::string::npos) << trace.error().message;
  EXPECT_LT(read, 1L << 18) << "the rest of the line was read for nothing";
}

TEST_F(TraceFiles, AreReadWhole) {
  std::string text = paged_header;
  for (int i = 0; i < 20'000; ++i) {
    text += "extend r0 0..4\n";
  }
  const Result<Trace, TextError> trace = load_trace(write("good.trace", text));
  ASSERT_TRUE(trace.ok()) << trace.error().render();
  EXPECT_EQ(trace->ops.size(), 20'000U);
}

TEST_F(TraceFiles, ErrorsNameTheFile) {
  const std::string file = write("bad.trace", "poolproof 2\n");
  const Result<Trace, TextError> trace = load_trace(file);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().render(), file +
                                        ":1:11: version 2 of the language is unknown; expected version 1\n"
                                        "  poolproof 2\n"
                                        "            ^");
}

TEST_F(TraceFiles, WhatIsNoFileIsAnError) {
  EXPECT_EQ(fault_of(path("none.trace")), "there is no such file");
  EXPECT_EQ(fault_of(path("")), "is a directory, not a trace");
  EXPECT_EQ(fault_of(write("file", "") + "/below"), "there is no such file");
  EXPECT_EQ(fault_of(path(std::string(5000, 'x'))), "cannot be read: File name too long");
}

TEST_F(TraceFiles, AFailedReadIsAnError) {
  // Opens, and fails to read: no memory is mapped at address 0.
  EXPECT_EQ(fault_of("/proc/self/mem"), "cannot be read: Input/output error");
}

TEST_F(TraceFiles, UnreadableOnesAreAnError) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads everything";
  }
  const std::string file = write("locked.trace", paged_header);
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  EXPECT_EQ(fault_of(file), "cannot be read: Permission denied");
}

TEST_F(TraceFiles, TooLargeOnesAreRefusedUnread) {
  const std::string file = write("huge.trace", "");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);  // sparse: reading it would never end
  EXPECT_EQ(fault_of(file), "the file has 1099511627776 bytes; a trace has at most 536870912");
}

TEST_F(TraceFiles, APipeIsReadUpToTheLimit) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto feed = [&](const std::string& text) { std::ofstream(pipe, std::ios::binary) << text; };
  TextLimits limits;
  limits.file_bytes = paged_header.size();
  std::thread exact(feed, paged_header);
  EXPECT_TRUE(load_trace(pipe, limits).ok());
  exact.join();
  std::thread over(feed, paged_header + "\n");
  EXPECT_EQ(fault_of(pipe, limits), "the trace is larger than 52 bytes");
  over.join();
}

/// The blocks of the manual that are indented by four, without the indentation.
std::vector<std::string> manual_blocks() {
  std::ifstream manual(std::string(POOLPROOF_SOURCE_DIR) + "/docs/trace-language.md");
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(manual, line);) {
    const bool indented = line.starts_with("    ");
    if (indented && !inside) {
      blocks.emplace_back();
    }
    inside = indented;
    if (indented) {
      blocks.back() += line.substr(4) + "\n";
    }
  }
  return blocks;
}

TEST(TraceManual, ShowsWhatTheParserDoes) {
  const std::vector<std::string> blocks = manual_blocks();
  ASSERT_EQ(blocks.size(), 2U);
  const Trace example = parsed(blocks[0]);
  EXPECT_EQ(example.ops.size(), 8U);
  EXPECT_EQ(to_string(example.geometry), "layout=hybrid page=256 full=16p swa=16p ring=256 window=128 reqs=4");
  const Result<Trace, TextError> wrong = parse_trace(hybrid_header + "clear\nextend r0 0..4, r\n", "bug.trace");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().render() + "\n", blocks[1]);
}

TEST(TraceManual, ListsEveryOp) {
  std::ifstream file(std::string(POOLPROOF_SOURCE_DIR) + "/docs/trace-language.md");
  const std::string manual(std::istreambuf_iterator<char>(file), {});
  for (std::size_t word = 0; word < op_word_count; ++word) {
    const std::string name(op_word_name(static_cast<OpWord>(word)));
    EXPECT_NE(manual.find("`" + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace poolproof
