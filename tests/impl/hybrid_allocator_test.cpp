// The paired pools against section 3 of docs/semantics.md.
#include "tests/impl/twin.hpp"

namespace poolproof::testing {
namespace {

using Pages = std::vector<std::int64_t>;

TEST(HybridPool, EachNewFullLocIsPaired) {
  Twin twin(hybrid_pool(4, 4, 3));
  const Locs row = twin.extend(0, 6);
  EXPECT_EQ(row, (Locs{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(twin.translate(row), (Locs{4, 5, 6, 7, 8, 9}));
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.full_available, 8);
  EXPECT_EQ(gauges.swa_available, 4);
  EXPECT_EQ(gauges.available, 4);
  EXPECT_EQ(gauges.size, 12);
  EXPECT_EQ(gauges.full_size, 16);
  EXPECT_EQ(gauges.swa_size, 12);
  EXPECT_EQ(gauges.swa_pool_available, 4);
  EXPECT_EQ(gauges.mapping_tail, -1);
}

TEST(HybridPool, SwaContinuesAfterThePeerOfTheLastLoc) {
  Twin twin(hybrid_pool(4, 6, 6));
  const Locs first = twin.extend(0, 4);
  twin.free(first, Side::swa);
  const Locs other = twin.extend(0, 2);
  EXPECT_EQ(other, (Locs{8, 9}));
  EXPECT_EQ(twin.translate(other), (Locs{4, 5}));
  EXPECT_EQ(twin.extend(2, 3, 9), (Locs{10}));
  EXPECT_EQ(twin.decode(4, 10), 11);
  EXPECT_EQ(twin.translate({10, 11}), (Locs{6, 7}));
  EXPECT_EQ(twin.decode(5, 11), 12);
  EXPECT_EQ(twin.translate({12}), (Locs{8}));
}

TEST(HybridPool, MinusOneTranslatesToMinusOne) {
  Twin twin(hybrid_pool(4, 2, 2));
  EXPECT_EQ(twin.translate({-1}), (Locs{-1}));
  EXPECT_EQ(twin.census().mapping.size(), 2U * 4 + 4 + 1);
  EXPECT_EQ(twin.census().mapping.back(), -1);
}

TEST(HybridPool, NeitherPoolGivesUpAPageWhenTheOtherCannotServe) {
  Twin twin(hybrid_pool(2, 4, 2));
  const Locs row = twin.extend(0, 4);
  const Gauges before = twin.gauges();
  Locs out;
  EXPECT_EQ(twin.try_extend(4, 5, row.back(), out), Answer::refused);
  EXPECT_EQ(twin.try_decode(5, row.back(), out), Answer::refused);
  EXPECT_EQ(twin->alloc_extend_swa_tail(0, 2, -1, 2, 2, out), Answer::refused);
  EXPECT_EQ(twin.gauges(), before);
  twin.free({2, 3}, Side::swa);
  EXPECT_EQ(twin.decode(5, row.back()), 6);
}

TEST(HybridPool, TokenAllocPairsBothPools) {
  Twin twin(hybrid_pool(1, 4, 3));
  EXPECT_EQ(twin.translate(twin.alloc(2)), (Locs{1, 2}));
  Locs out;
  EXPECT_EQ(twin->alloc(2, out), Answer::refused);
  EXPECT_EQ(twin.gauges().full_available, 2);
}

TEST(HybridPool, FreeReturnsBothSides) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs row = twin.extend(0, 8);
  twin.free(row);
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.full_available, 16);
  EXPECT_EQ(gauges.swa_available, 16);
  EXPECT_EQ(twin.translate(row), Locs(8, 0));
}

TEST(HybridPool, TheMappingNamesPeersOfLentLocsAlone) {
  Twin twin(hybrid_pool(2, 3, 3));
  const Locs row = twin.extend(0, 3);
  Census census = twin.census();
  EXPECT_EQ(Locs(census.mapping.begin(), census.mapping.end()), (Locs{0, 0, 2, 3, 4, 0, 0, 0, -1}));
  twin.free({row[2]});
  census = twin.census();
  EXPECT_EQ(Locs(census.mapping.begin(), census.mapping.end()), (Locs{0, 0, 2, 3, 0, 0, 0, 0, -1}));
}

TEST(HybridPool, FreeSwaClearsTheWholeTouchedPages) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs row = twin.extend(0, 8);
  twin.free({row[1]}, Side::swa);
  EXPECT_EQ(twin.translate(row), (Locs{0, 0, 0, 0, 8, 9, 10, 11}));
  EXPECT_EQ(twin.gauges().swa_available, 12);
  EXPECT_EQ(twin.gauges().full_available, 8);
  twin.free(row);
  EXPECT_EQ(twin.gauges().swa_available, 16);
  EXPECT_EQ(twin.gauges().full_available, 16);
}

TEST(HybridPool, FreeFullReleasesTombstonesAlone) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs row = twin.extend(0, 4);
  twin.free(row, Side::swa);
  twin.free(row, Side::full);
  EXPECT_EQ(twin.gauges().full_available, 16);
  EXPECT_EQ(twin.gauges().swa_available, 16);
}

TEST(HybridPool, SegmentFormsReleaseEachSide) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs row = twin.extend(0, 10);
  twin.free_segment({row.begin(), row.begin() + 4}, 0, Side::swa);
  EXPECT_EQ(twin.gauges().swa_available, 8);
  EXPECT_EQ(twin.gauges().full_available, 4);
  twin.free_segment({row.begin(), row.begin() + 4}, 0, Side::full);
  EXPECT_EQ(twin.gauges().full_available, 8);
  twin.free_segment({row.begin() + 4, row.end()}, 4);
  EXPECT_EQ(twin.gauges().swa_available, 16);
  EXPECT_EQ(twin.gauges().full_available, 16);
  EXPECT_EQ(twin.translate(row), Locs(10, 0));
}

TEST(HybridPool, ATailPairsItsOwnLocsAlone) {
  Twin twin(hybrid_pool(4, 6, 2));
  Locs out;
  ASSERT_EQ(twin->alloc_extend_swa_tail(0, 14, -1, 6, 14, out), Answer::served);
  EXPECT_EQ(out, (Locs{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(twin.translate(out), (Locs{0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(twin.gauges().full_available, 8);
  EXPECT_EQ(twin.gauges().swa_available, 0);
  EXPECT_EQ(twin.decode(15, 17), 18);
  EXPECT_EQ(twin.translate({18}), (Locs{10}));
}

TEST(HybridPool, ATailInTheMiddleContinuesTheFullPage) {
  Twin twin(hybrid_pool(4, 6, 3));
  const Locs row = twin.extend(0, 2);
  Locs out;
  ASSERT_EQ(twin->alloc_extend_swa_tail(2, 11, row.back(), 4, 8, out), Answer::served);
  EXPECT_EQ(out, (Locs{6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(twin.translate(out), (Locs{0, 0, 8, 9, 10, 11, 0, 0, 0}));
}

TEST(HybridPool, NewLocsOutsideATailReadZeroWhateverWasThere) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs stale{4, 5, 6, 7};
  ASSERT_EQ(twin->set_full_to_swa_mapping(stale, Locs{12, 13, 14, 15}), Answer::served);
  Locs out;
  ASSERT_EQ(twin->alloc_extend_swa_tail(0, 8, -1, 4, 8, out), Answer::served);
  EXPECT_EQ(twin.translate(out), (Locs{0, 0, 0, 0, 4, 5, 6, 7}));
}

TEST(HybridPool, APageWithoutAPeerNeverReturnsPageZero) {
  Twin twin(hybrid_pool(4, 4, 4));
  Locs row;
  ASSERT_EQ(twin->alloc_extend_swa_tail(0, 8, -1, 4, 8, row), Answer::served);
  twin.free_segment(row, 0);
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 2, 3, 4}));
  ASSERT_EQ(twin->alloc_extend_swa_tail(0, 8, -1, 4, 8, row), Answer::served);
  twin.free(row);
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 2, 3, 4}));
}

// A load-back at another offset: full page 3 takes the peers of page 1's second half and of page 2's first half.
class Remapped : public ::testing::Test {
 protected:
  Remapped() : twin(hybrid_pool(4, 6, 6)) {
    donor = twin.extend(0, 8);
    twin.extend(0, 4);
    target = {12, 13, 14, 15};
    twin.free(target, Side::swa);
    const Locs moved{6, 7, 8, 9};
    const Locs peers = twin.translate(moved);
    EXPECT_EQ(twin->set_full_to_swa_mapping(target, peers), Answer::served);
    EXPECT_EQ(twin->clear_full_to_swa_mapping(moved), Answer::served);
  }
  Twin twin;
  Locs donor;
  Locs target;
};

TEST_F(Remapped, PeersMove) {
  EXPECT_EQ(twin.translate(target), (Locs{6, 7, 8, 9}));
  EXPECT_EQ(twin.translate(donor), (Locs{4, 5, 0, 0, 0, 0, 10, 11}));
}

TEST_F(Remapped, OneCallReleasesPagesThatShareSwaPages) {
  Locs all = donor;
  all.insert(all.end(), target.begin(), target.end());
  twin.free(all);
  EXPECT_EQ(twin.gauges().swa_available, 24);
  EXPECT_EQ(twin.gauges().full_available, 24);
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 2, 3, 4, 5, 6}));
}

TEST_F(Remapped, ASegmentLooksAtAllSlotsOfAPage) {
  // Both representatives of the donor's pages would miss SWA page 2, which its last two slots alone name.
  twin.free_segment(donor, 0, Side::swa);
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 2, 3, 4, 5, 6}));
}

TEST(HybridPool, APageMayNameOneSwaPageBeforeAndBehindAnother) {
  Twin twin(hybrid_pool(4, 4, 4));
  const Locs row = twin.extend(0, 4);
  ASSERT_EQ(twin->set_full_to_swa_mapping(row, Locs{7, 8, 9, 4}), Answer::served);
  ASSERT_EQ(twin.extend(0, 4).size(), 4U);
  twin.free(row, Side::swa);
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 2, 3, 4}));
}

}  // namespace
}  // namespace poolproof::testing
