#include "model/ops.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace poolproof {
namespace {

constexpr Pos far = std::numeric_limits<Pos>::max();

Geometry token_pool() { return {.layout = Layout::token, .full = 32, .reqs = 2}; }
Geometry paged_pool() { return {.layout = Layout::paged, .page = 4, .full = 32, .reqs = 2}; }
Geometry hybrid_pool() { return {.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 16, .window = 6, .reqs = 2}; }
Geometry hybrid_token_pool() {
  return {.layout = Layout::hybrid, .page = 1, .full = 32, .swa = 16, .window = 6, .reqs = 2};
}
Geometry pure_swa_pool() { return {.layout = Layout::pure_swa, .full = 32, .window = 4, .reqs = 2}; }

std::string fault_of(const Op& op, const Geometry& g) { return op_fault(op, g).value_or(""); }

op::Free free_of(Side side, std::vector<Piece> pieces) { return {side, std::move(pieces)}; }
op::FreeSegment segment_of(Side side, std::vector<Range> ranges) { return {side, 0, std::move(ranges)}; }

TEST(Ops, EachWordHasItsName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < op_word_count; ++i) {
    names.insert(op_word_name(static_cast<OpWord>(i)));
  }
  EXPECT_EQ(names.size(), op_word_count);
}

TEST(Ops, WordsAreFinerThanTheVariant) {
  const auto name = [](const Op& op) { return op_word_name(word_of(op)); };
  EXPECT_EQ(name(op::SlotTake{}), "slot");
  EXPECT_EQ(name(op::SlotGive{}), "unslot");
  EXPECT_EQ(name(op::Alloc{}), "alloc");
  EXPECT_EQ(name(op::Extend{}), "extend");
  EXPECT_EQ(name(op::Decode{}), "decode");
  EXPECT_EQ(name(op::Tail{}), "tail");
  EXPECT_EQ(name(free_of(Side::both, {})), "free");
  EXPECT_EQ(name(free_of(Side::swa, {})), "free_swa");
  EXPECT_EQ(name(free_of(Side::full, {})), "free_full");
  EXPECT_EQ(name(segment_of(Side::both, {})), "free_segment");
  EXPECT_EQ(name(segment_of(Side::swa, {})), "free_swa_segment");
  EXPECT_EQ(name(segment_of(Side::full, {})), "free_full_segment");
  EXPECT_EQ(name(op::Copy{}), "copy");
  EXPECT_EQ(name(op::Drop{}), "drop");
  EXPECT_EQ(name(op::Trim{}), "trim");
  EXPECT_EQ(name(op::Remap{}), "remap");
  EXPECT_EQ(name(op::Unmap{}), "unmap");
  EXPECT_EQ(name(op::Write{}), "write");
  EXPECT_EQ(name(op::Read{}), "read");
  EXPECT_EQ(name(op::GroupBegin{}), "group_begin");
  EXPECT_EQ(name(op::GroupBegin{true}), "group_begin again");
  EXPECT_EQ(name(op::GroupEnd{}), "group_end");
  EXPECT_EQ(name(op::GroupEnd{true}), "group_end again");
  EXPECT_EQ(name(op::Backup{}), "backup");
  EXPECT_EQ(name(op::Restore{}), "restore");
  EXPECT_EQ(name(op::Clear{}), "clear");
  EXPECT_EQ(name(op::Resize{}), "resize");
  EXPECT_EQ(name(op::Expect{}), "expect");
  EXPECT_EQ(name(op::Pause{}), "pause");
  EXPECT_EQ(name(op::Resume{}), "resume");
  EXPECT_EQ(name(op::Destroy{}), "destroy");
  EXPECT_EQ(name(op::Build{}), "build");
  EXPECT_EQ(name(op::Flush{}), "flush");
}

TEST(OpFault, OpsOnMemoryNeedMemory) {
  const std::vector<Op> all = {op::Pause{}, op::Resume{}, op::Destroy{}, op::Build{}, op::Flush{}};
  Geometry with = paged_pool();
  with.kv.kind = KvKind::mha;
  for (const Op& op : all) {
    const std::string word(op_word_name(word_of(op)));
    EXPECT_EQ(fault_of(op, paged_pool()),
              word + " is about the memory behind the pool; give kv=mha, kv=mla or kv=dsa on the pool line");
    EXPECT_EQ(fault_of(op, with), "") << word;
  }
  EXPECT_EQ(fault_of(op::Pause{MemoryTag::all}, with), "");
  EXPECT_EQ(fault_of(op::Pause{MemoryTag::weights}, with),
            "pause weights, and there are none; give weights=BYTES on the pool line");
  EXPECT_EQ(fault_of(op::Resume{MemoryTag::weights}, with),
            "resume weights, and there are none; give weights=BYTES on the pool line");
  with.kv.weights_bytes = 1;
  EXPECT_EQ(fault_of(op::Resume{MemoryTag::weights}, with), "");
  EXPECT_EQ(fault_of(op::Resize{with.full, 0}, with),
            "a pool with memory (kv=) keeps its size; destroy and build it, or leave kv out");
}

TEST(OpFault, GoodOpsHaveNone) {
  const std::vector<Op> everywhere = {op::SlotTake{65535},
                                      op::SlotGive{0},
                                      op::Extend{{{0, {0, 600}}, {1, {3, 4}}}},
                                      op::Decode{{0, 1}},
                                      free_of(Side::both, {{0, {0, 3}}, {0, {0, 3}}}),
                                      segment_of(Side::both, {{1, 2}, {0, 4}}),
                                      op::Copy{1, {0, 4}, 0},
                                      op::Drop{0, {0, 4}},
                                      op::Trim{0, 0},
                                      op::Trim{0, max_position},
                                      op::Write{0, {0, 1}},
                                      op::Read{0, {3, 7}},
                                      op::GroupBegin{},
                                      op::GroupBegin{true},
                                      op::GroupEnd{},
                                      op::GroupEnd{true},
                                      op::Backup{255},
                                      op::Restore{0},
                                      op::Clear{},
                                      op::Expect{0, {}, {}, {}},
                                      op::Expect{{}, {}, 0, {}},
                                      op::Expect{{}, {}, {}, true}};
  for (const Geometry& g : {token_pool(), paged_pool(), hybrid_pool(), hybrid_token_pool(), pure_swa_pool()}) {
    for (const Op& op : everywhere) {
      EXPECT_EQ(op_fault(op, g), std::nullopt) << to_string(g) << " " << op_word_name(word_of(op));
    }
  }
}

TEST(OpFault, SlotsNeedRequestSlots) {
  Geometry g = paged_pool();
  g.reqs = 0;
  EXPECT_EQ(fault_of(op::SlotTake{0}, g), "this pool has no request slots; give reqs=N on the pool line");
  EXPECT_EQ(fault_of(op::SlotGive{0}, g), "this pool has no request slots; give reqs=N on the pool line");
}

TEST(OpFault, RowsAreBoundedInEveryOp) {
  const std::string fault = "row r65536 is too large; rows are r0..r65535";
  const Geometry g = hybrid_pool();
  const Row row = max_rows;
  for (const Op& op : std::vector<Op>{op::SlotTake{row}, op::SlotGive{row}, op::Extend{{{0, {0, 4}}, {row, {0, 4}}}},
                                      op::Decode{{0, row}}, op::Tail{row, {0, 4}, {0, 4}},
                                      free_of(Side::both, {{row, {0, 4}}}), op::FreeSegment{Side::both, row, {{0, 4}}},
                                      op::Copy{row, {0, 4}, 0}, op::Copy{0, {0, 4}, row}, op::Drop{row, {0, 4}},
                                      op::Trim{row, 0}, op::Remap{row, {0, 4}, 0, 0}, op::Remap{0, {0, 4}, row, 0},
                                      op::Unmap{row, {0, 4}}, op::Write{row, {0, 4}}, op::Read{row, {0, 4}}}) {
    EXPECT_EQ(fault_of(op, g), fault) << op_word_name(word_of(op));
  }
  EXPECT_EQ(fault_of(op::Alloc{row, {0, 4}}, paged_pool()), fault);
}

TEST(OpFault, RangesAreNotEmptyNegativeOrTooFarInEveryOp) {
  const Geometry g = hybrid_pool();
  struct Bad {
    Range range;
    std::string_view fault;
  };
  for (const auto& [range, fault] :
       {Bad{{4, 4}, "the range 4..4 is empty; its end must be above its begin"},
        Bad{{8, 4}, "the range 8..4 is empty; its end must be above its begin"},
        Bad{{-4, 4}, "position -4 is negative; positions start at 0"},
        Bad{{0, max_position + 4}, "position 1073741828 is too large; ranges end at 1073741824 at most"},
        Bad{{0, far}, "position 9223372036854775807 is too large; ranges end at 1073741824 at most"}}) {
    for (const Op& op :
         std::vector<Op>{op::Extend{{{0, {0, 4}}, {1, range}}}, op::Tail{0, range, {0, 4}}, op::Tail{0, {0, 4}, range},
                         free_of(Side::swa, {{0, range}}), segment_of(Side::full, {{0, 4}, range}),
                         op::Copy{0, range, 1}, op::Drop{0, range}, op::Remap{0, range, 1, 0}, op::Unmap{0, range},
                         op::Write{0, range}, op::Read{0, range}}) {
      EXPECT_EQ(fault_of(op, g), fault) << op_word_name(word_of(op));
    }
    EXPECT_EQ(fault_of(op::Alloc{0, range}, paged_pool()), fault);
  }
  EXPECT_EQ(fault_of(op::Write{0, {0, max_position}}, g), "");
}

TEST(OpFault, ListsNameSomethingAndFitOnALine) {
  const std::string nothing = "the op names nothing; it takes at least one row or range";
  const Geometry g = hybrid_pool();
  EXPECT_EQ(fault_of(op::Extend{}, g), nothing);
  EXPECT_EQ(fault_of(op::Decode{}, g), nothing);
  EXPECT_EQ(fault_of(free_of(Side::both, {}), g), nothing);
  EXPECT_EQ(fault_of(segment_of(Side::both, {}), g), nothing);
  const std::string many = "the op names 4097 pieces; 4096 are the most, split it";
  EXPECT_EQ(fault_of(op::Decode{std::vector<Row>(4097, 1)}, g), many);
  EXPECT_EQ(fault_of(op::Decode{std::vector<Row>(4096, 65535)}, g), "");
  EXPECT_EQ(fault_of(op::Extend{std::vector<Piece>(4097, {1, {0, 4}})}, g), many);
  EXPECT_EQ(fault_of(op::Extend{std::vector<Piece>(4096, {1, {0, 4}})}, g), "");
  EXPECT_EQ(fault_of(segment_of(Side::both, std::vector<Range>(4097, {0, 4})), g), many);
  const std::string wide = "the op does not fit on a line of 65280 bytes; split it";
  EXPECT_EQ(fault_of(free_of(Side::swa, std::vector<Piece>(4096, {65535, {1000000000, 1000000004}})), g), wide);
  EXPECT_EQ(fault_of(segment_of(Side::swa, std::vector<Range>(4096, {1000000000, 1000000004})), g), wide);
}

TEST(OpFault, AllocHandsOutWholePagesAndNotOnAPagedHybrid) {
  EXPECT_EQ(fault_of(op::Alloc{0, {0, 4}}, hybrid_pool()),
            "layout=hybrid does not offer alloc with page=4; use extend");
  EXPECT_EQ(fault_of(op::Alloc{0, {0, 3}}, hybrid_token_pool()), "");
  EXPECT_EQ(fault_of(op::Alloc{0, {1, 4}}, pure_swa_pool()), "");
  EXPECT_EQ(fault_of(op::Alloc{0, {4, 12}}, paged_pool()), "");
  EXPECT_EQ(fault_of(op::Alloc{0, {4, 11}}, paged_pool()),
            "alloc hands out whole pages, and 7 tokens are no multiple of page=4");
  EXPECT_EQ(fault_of(op::Alloc{0, {3, 7}}, paged_pool()),
            "alloc hands out whole pages, and position 3 is inside one (page=4)");
}

TEST(OpFault, TailIsForHybridsAndItsSwaPartIsInside) {
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {4, 8}}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {4, 6}}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {4, 8}}, paged_pool()), "layout=paged does not offer tail; use extend");
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {4, 8}}, pure_swa_pool()), "layout=pure_swa does not offer tail; use extend");
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {4, 9}}, hybrid_pool()), "swa=4..9 is not inside 0..8");
  EXPECT_EQ(fault_of(op::Tail{0, {5, 8}, {4, 8}}, hybrid_pool()), "swa=4..8 is not inside 5..8");
  EXPECT_EQ(fault_of(op::Tail{0, {0, 8}, {3, 8}}, hybrid_pool()),
            "swa=3..8 starts inside a page; start it at a multiple of page=4");
}

TEST(OpFault, OneSidedFreesNeedTwoSides) {
  for (const Geometry& g : {hybrid_pool(), hybrid_token_pool(), pure_swa_pool()}) {
    for (const Side side : {Side::swa, Side::full}) {
      EXPECT_EQ(fault_of(free_of(side, {{0, {0, 4}}}), g), "");
      EXPECT_EQ(fault_of(segment_of(side, {{0, 4}}), g), "");
    }
  }
  EXPECT_EQ(fault_of(free_of(Side::swa, {{0, {0, 4}}}), paged_pool()),
            "layout=paged does not offer free_swa; it has one side, use free");
  EXPECT_EQ(fault_of(free_of(Side::full, {{0, {0, 4}}}), token_pool()),
            "layout=token does not offer free_full; it has one side, use free");
  EXPECT_EQ(fault_of(segment_of(Side::swa, {{0, 4}}), paged_pool()),
            "layout=paged does not offer free_swa_segment; it has one side, use free_segment");
  EXPECT_EQ(fault_of(segment_of(Side::full, {{0, 4}}), token_pool()),
            "layout=token does not offer free_full_segment; it has one side, use free_segment");
}

TEST(OpFault, ASegmentInsideAPageIsLeftToTheCallersRules) {
  EXPECT_EQ(fault_of(segment_of(Side::both, {{1, 4}}), paged_pool()), "");
}

TEST(OpFault, TheMappingIsEditedOnHybridsAlone) {
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, 3}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Unmap{1, {1, 2}}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, 3}, pure_swa_pool()),
            "layout=pure_swa does not offer remap; its mapping cannot be edited");
  EXPECT_EQ(fault_of(op::Unmap{1, {0, 4}}, paged_pool()),
            "layout=paged does not offer unmap; its mapping cannot be edited");
}

TEST(OpFault, RemapTakesAnAlignedTargetAndADonorWithinBounds) {
  EXPECT_EQ(fault_of(op::Remap{1, {2, 4}, 0, 0}, hybrid_pool()),
            "the target 2..4 starts inside a page; start it at a multiple of page=4");
  EXPECT_EQ(fault_of(op::Remap{1, {1, 4}, 0, 0}, hybrid_token_pool()), "");
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, -1}, hybrid_pool()),
            "the donor range starts at -1; it must lie in 0..1073741824");
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, max_position - 4}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, max_position - 3}, hybrid_pool()),
            "the donor range starts at 1073741821; it must lie in 0..1073741824");
  EXPECT_EQ(fault_of(op::Remap{1, {0, 4}, 0, far}, hybrid_pool()),
            "the donor range starts at 9223372036854775807; it must lie in 0..1073741824");
}

TEST(OpFault, TrimAndBackupsAreBounded) {
  EXPECT_EQ(fault_of(op::Trim{0, -1}, paged_pool()), "the length is negative: -1");
  EXPECT_EQ(fault_of(op::Trim{0, max_position + 1}, paged_pool()),
            "length 1073741825 is too large; 1073741824 is the most");
  EXPECT_EQ(fault_of(op::Backup{256}, paged_pool()), "backup b256 is too large; backups are b0..b255");
  EXPECT_EQ(fault_of(op::Restore{256}, paged_pool()), "backup b256 is too large; backups are b0..b255");
}

TEST(OpFault, ResizeFollowsThePoolLine) {
  EXPECT_EQ(fault_of(op::Resize{16, 0}, paged_pool()), "");
  EXPECT_EQ(fault_of(op::Resize{16, 8}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Resize{0, 0}, paged_pool()), "full=0 is not a pool size; it is at least one page");
  EXPECT_EQ(fault_of(op::Resize{6, 0}, paged_pool()), "full=6 is not a multiple of page=4; for 6 pages write full=6p");
  EXPECT_EQ(fault_of(op::Resize{far, 0}, paged_pool()),
            "full=9223372036854775807 is larger than 1073741824 tokens, the largest pool");
  EXPECT_EQ(fault_of(op::Resize{16, 8}, paged_pool()), "layout=paged has no SWA pool; leave swa out");
  EXPECT_EQ(fault_of(op::Resize{16, 8}, pure_swa_pool()), "layout=pure_swa has no SWA pool; leave swa out");
  EXPECT_EQ(fault_of(op::Resize{16, 0}, hybrid_pool()),
            "a hybrid pool is resized on both sides; give swa=TOKENS or swa=PAGESp");
  EXPECT_EQ(fault_of(op::Resize{16, 6}, hybrid_pool()), "swa=6 is not a multiple of page=4; for 6 pages write swa=6p");
}

TEST(OpFault, ExpectSaysSomethingThatCanBe) {
  EXPECT_EQ(fault_of(op::Expect{}, paged_pool()),
            "the line expects nothing; add available full=N, slots N, refused or served");
  EXPECT_EQ(fault_of(op::Expect{{}, 4, {}, {}}, hybrid_pool()), "");
  EXPECT_EQ(fault_of(op::Expect{{}, 4, {}, {}}, pure_swa_pool()), "");
  EXPECT_EQ(fault_of(op::Expect{{}, 4, {}, {}}, paged_pool()), "layout=paged has no SWA side; expect full alone");
  EXPECT_EQ(fault_of(op::Expect{-1, {}, {}, {}}, paged_pool()), "full=-1 is negative");
  EXPECT_EQ(fault_of(op::Expect{{}, -1, {}, {}}, hybrid_pool()), "swa=-1 is negative");
  EXPECT_EQ(fault_of(op::Expect{{}, {}, -1, {}}, paged_pool()), "the number of slots is negative: -1");
}

}  // namespace
}  // namespace poolproof
