// The single pool against section 2 of docs/semantics.md.
#include "tests/impl/twin.hpp"

namespace poolproof::testing {
namespace {

using Pages = std::vector<std::int64_t>;

TEST(TokenPool, LendsSlotsFromOneUpAndNeverSlotZero) {
  Twin twin(token_pool(4));
  EXPECT_EQ(twin.alloc(3), (Locs{1, 2, 3}));
  EXPECT_EQ(twin.gauges().available, 1);
  EXPECT_EQ(twin.gauges().size, 4);
  EXPECT_EQ(twin.alloc(1), (Locs{4}));
  EXPECT_EQ(twin.gauges().available, 0);
}

TEST(TokenPool, RefusesWhatDoesNotFitAndChangesNothing) {
  Twin twin(token_pool(4));
  twin.alloc(3);
  const Gauges before = twin.gauges();
  const Pages free_before = twin.census().full.free;
  Locs out;
  EXPECT_EQ(twin->alloc(2, out), Answer::refused);
  EXPECT_EQ(twin.try_extend(0, 2, -1, out), Answer::refused);
  EXPECT_EQ(twin.gauges(), before);
  EXPECT_EQ(twin.census().full.free, free_before);
}

TEST(TokenPool, ReturnedSlotsAreLentFirst) {
  Twin twin(token_pool(6));
  twin.alloc(4);
  twin.free({3, 1, 3});
  EXPECT_EQ(twin.gauges().available, 4);
  EXPECT_EQ(twin.census().full.free, (Pages{1, 3, 5, 6}));
  EXPECT_EQ(twin.alloc(3), (Locs{1, 3, 5}));
}

TEST(TokenPool, DecodeTakesOneSlotARequest) {
  Twin twin(token_pool(4));
  const Locs row = twin.extend(0, 2);
  EXPECT_EQ(row, (Locs{1, 2}));
  EXPECT_EQ(twin.decode(3, 2), 3);
  const std::vector<Pos> seq_lens{4, 1};
  const Locs last_locs{3, -1};
  Locs out;
  EXPECT_EQ(twin->alloc_decode(seq_lens, last_locs, out), Answer::refused);
  EXPECT_EQ(twin.gauges().available, 1);
}

TEST(PagedPool, AllocLendsWholePages) {
  Twin twin(paged_pool(4, 3));
  EXPECT_EQ(twin.alloc(8), (Locs{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(twin.gauges().available, 4);
}

TEST(PagedPool, ExtendFillsTheLastPageThenWholePagesThenAHead) {
  Twin twin(paged_pool(4, 5));
  EXPECT_EQ(twin.extend(0, 3), (Locs{4, 5, 6}));
  EXPECT_EQ(twin.gauges().available, 16);
  EXPECT_EQ(twin.extend(3, 10, 6), (Locs{7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_EQ(twin.extend(10, 12, 13), (Locs{14, 15}));
  EXPECT_EQ(twin.gauges().available, 8);
}

TEST(PagedPool, ABatchTakesItsPagesInOrder) {
  Twin twin(paged_pool(2, 6));
  const std::vector<Pos> prefix_lens{0, 0, 0};
  const std::vector<Pos> seq_lens{3, 1, 4};
  const Locs last_locs{-1, -1, -1};
  Locs out;
  ASSERT_EQ(twin->alloc_extend(prefix_lens, seq_lens, last_locs, out), Answer::served);
  EXPECT_EQ(out, (Locs{2, 3, 4, 6, 8, 9, 10, 11}));
  EXPECT_EQ(twin.gauges().available, 2);
}

TEST(PagedPool, ABatchIsServedWholeOrNotAtAll) {
  Twin twin(paged_pool(2, 3));
  const std::vector<Pos> prefix_lens{0, 0};
  const std::vector<Pos> too_long{4, 3};
  const std::vector<Pos> exact{4, 2};
  const Locs last_locs{-1, -1};
  Locs out;
  EXPECT_EQ(twin->alloc_extend(prefix_lens, too_long, last_locs, out), Answer::refused);
  EXPECT_EQ(twin.gauges().available, 6);
  EXPECT_EQ(twin->alloc_extend(prefix_lens, exact, last_locs, out), Answer::served);
  EXPECT_EQ(twin.gauges().available, 0);
}

TEST(PagedPool, DecodeOpensAPageAtTheBorderAlone) {
  Twin twin(paged_pool(4, 2));
  twin.extend(0, 3);
  EXPECT_EQ(twin.decode(4, 6), 7);
  EXPECT_EQ(twin.gauges().available, 4);
  EXPECT_EQ(twin.decode(5, 7), 8);
  EXPECT_EQ(twin.gauges().available, 0);
  EXPECT_EQ(twin.decode(6, 8), 9);
}

TEST(PagedPool, AnExtendInsideTheLastPageNeedsNoFreePage) {
  Twin twin(paged_pool(4, 1));
  twin.extend(0, 2);
  EXPECT_EQ(twin.gauges().available, 0);
  EXPECT_EQ(twin.extend(2, 4, 5), (Locs{6, 7}));
  Locs out;
  EXPECT_EQ(twin.try_extend(4, 5, 7, out), Answer::refused);
}

TEST(PagedPool, AnyLocOfAPageReleasesItOnce) {
  Twin twin(paged_pool(4, 3));
  twin.extend(0, 12);
  twin.free({9, 4, 10, 5, 8});
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_EQ(twin.census().full.free, (Pages{1, 2}));
}

TEST(PagedPool, ASegmentReleasesItsPartialLastPageWhole) {
  Twin twin(paged_pool(4, 3));
  const Locs row = twin.extend(0, 10);
  twin.free_segment({row.begin() + 4, row.end()}, 4);
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_EQ(twin.census().full.free, (Pages{2, 3}));
}

TEST(PagedPool, OneCallTakesSeveralSegments) {
  Twin twin(paged_pool(2, 5));
  const Locs row = twin.extend(0, 9);
  const std::span<const Loc> locs(row);
  const std::vector<Segment> segments{{locs.subspan(0, 2), 0}, {locs.subspan(4, 2), 4}, {locs.subspan(6, 3), 6}};
  ASSERT_EQ(twin->free_segments(Side::both, segments), Answer::served);
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_EQ(twin.census().full.free, (Pages{1, 3, 4, 5}));
}

TEST(NeedSort, ReturnedPagesAreStagedAndAvailable) {
  Twin twin(paged_pool(2, 4, true));
  twin.extend(0, 6);
  twin.free({6, 2});
  const Census census = twin.census();
  EXPECT_EQ(census.full.free, (Pages{4}));
  EXPECT_EQ(census.full.staged, (Pages{1, 3}));
  EXPECT_EQ(twin.gauges().available, 6);
}

TEST(NeedSort, TheFreeListIsUsedBeforeAnythingIsMerged) {
  Twin twin(paged_pool(2, 4, true));
  twin.extend(0, 6);
  twin.free({2});
  EXPECT_EQ(twin.extend(0, 2), (Locs{8, 9}));
  EXPECT_EQ(twin.census().full.staged, (Pages{1}));
}

TEST(NeedSort, RunningShortMergesAndSorts) {
  Twin twin(paged_pool(2, 6, true));
  twin.extend(0, 10);
  twin.free({8, 9});
  twin.free({2, 3, 6, 7});
  EXPECT_EQ(twin.extend(0, 4), (Locs{2, 3, 6, 7}));
  const Census census = twin.census();
  EXPECT_EQ(census.full.free, (Pages{4, 6}));
  EXPECT_TRUE(census.full.staged.empty());
}

TEST(NeedSort, ARefusalAfterAMergeKeepsTheCount) {
  Twin twin(paged_pool(2, 4, true));
  twin.extend(0, 8);
  twin.free({4, 2});
  Locs out;
  EXPECT_EQ(twin.try_extend(0, 6, -1, out), Answer::refused);
  EXPECT_EQ(twin.gauges().available, 4);
  EXPECT_EQ(twin.extend(0, 4), (Locs{2, 3, 4, 5}));
}

TEST(SinglePool, SwaCallsFailAndSayWhy) {
  Twin twin(paged_pool(2, 4));
  Locs out(1);
  const Locs loc{2};
  EXPECT_EQ(twin->translate_loc_from_full_to_swa(loc, out), Answer::failed);
  EXPECT_EQ(twin->set_full_to_swa_mapping(loc, loc), Answer::failed);
  EXPECT_EQ(twin->alloc_extend_swa_tail(0, 2, -1, 2, 2, out), Answer::failed);
  EXPECT_NE(twin->failure().find("paged"), std::string::npos);
}

TEST(PureSwaPool, MapsEachLocToItselfAndCannotBeEdited) {
  Twin twin({.layout = Layout::pure_swa, .page = 1, .full = 4, .window = 2});
  const Locs row = twin.extend(0, 3);
  EXPECT_EQ(twin.translate(row), row);
  EXPECT_EQ(twin->set_full_to_swa_mapping(row, Locs{3, 2, 1}), Answer::refused);
  EXPECT_EQ(twin->clear_full_to_swa_mapping(row), Answer::refused);
  EXPECT_EQ(twin.translate(row), row);
}

TEST(PureSwaPool, FreeAndFreeSwaReturnTheSlotAndFreeFullDoesNothing) {
  Twin twin({.layout = Layout::pure_swa, .page = 1, .full = 4, .window = 2});
  twin.extend(0, 4);
  twin.free({1, 2}, Side::full);
  EXPECT_EQ(twin.gauges().available, 0);
  twin.free({1}, Side::swa);
  twin.free({2});
  twin.free_segment({3}, 2, Side::swa);
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.available, 3);
  EXPECT_EQ(gauges.full_available, 3);
  EXPECT_EQ(gauges.swa_available, 3);
  EXPECT_EQ(gauges.swa_size, 4);
}

}  // namespace
}  // namespace poolproof::testing
