// Free groups: what is settled at the call, and what waits for the end.
#include "tests/impl/twin.hpp"

namespace poolproof::testing {
namespace {

using Pages = std::vector<std::int64_t>;

TEST(FreeGroup, CreditsNothingBeforeItsEnd) {
  for (const bool need_sort : {false, true}) {
    Twin twin(paged_pool(2, 4, need_sort));
    const Locs row = twin.extend(0, 8);
    ASSERT_EQ(twin->free_group_begin(), Answer::served);
    twin.free({row[4], row[0]});
    twin.free_segment({row[6]}, 6);
    EXPECT_EQ(twin.gauges().available, 0);
    EXPECT_EQ(twin.census().full.deferred, (Pages{1, 3, 4}));
    Locs out;
    EXPECT_EQ(twin.try_extend(0, 1, -1, out), Answer::refused);
    ASSERT_EQ(twin->free_group_end(), Answer::served);
    EXPECT_EQ(twin.gauges().available, 6);
    EXPECT_TRUE(twin.census().full.deferred.empty());
    EXPECT_EQ(twin.extend(0, 5), (Locs{2, 3, 6, 7, 8}));
  }
}

TEST(FreeGroup, DoesNotNestAndEndsOnce) {
  Twin twin(paged_pool(2, 4));
  const Locs row = twin.extend(0, 4);
  EXPECT_EQ(twin->free_group_end(), Answer::refused);
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  twin.free({row[0]});
  EXPECT_EQ(twin->free_group_begin(), Answer::refused);
  twin.free({row[2]});
  ASSERT_EQ(twin->free_group_end(), Answer::served);
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_EQ(twin->free_group_end(), Answer::refused);
  EXPECT_EQ(twin.gauges().available, 8);
}

TEST(FreeGroup, LendingInsideIsLegalAndTakesOtherPages) {
  Twin twin(hybrid_pool(2, 4, 4));
  const Locs row = twin.extend(0, 4);
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  twin.free(row);
  const Locs other = twin.extend(0, 4);
  EXPECT_EQ(other, (Locs{6, 7, 8, 9}));
  EXPECT_EQ(twin.translate(other), (Locs{6, 7, 8, 9}));
  ASSERT_EQ(twin->free_group_end(), Answer::served);
  EXPECT_EQ(twin.gauges().available, 4);
}

TEST(FreeGroup, OwnsACopyOfTheIndexArray) {
  Twin twin(paged_pool(2, 4));
  Locs row = twin.extend(0, 8);
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  Locs indices{row[0], row[1]};
  twin.free(indices);
  std::fill(indices.begin(), indices.end(), row[6]);
  ASSERT_EQ(twin->free_group_end(), Answer::served);
  EXPECT_EQ(twin.census().full.free, (Pages{1}));
}

TEST(FreeGroup, PeersAreSettledAtTheCallAndALaterMappingSurvives) {
  Twin twin(hybrid_pool(2, 4, 4));
  const Locs row = twin.extend(0, 2);
  const Locs donor = twin.extend(0, 2);
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  twin.free(row, Side::swa);
  EXPECT_EQ(twin.translate(row), (Locs{0, 0}));
  EXPECT_EQ(twin.census().swa.deferred, (Pages{1}));
  ASSERT_EQ(twin->set_full_to_swa_mapping(row, twin.translate(donor)), Answer::served);
  ASSERT_EQ(twin->clear_full_to_swa_mapping(donor), Answer::served);
  ASSERT_EQ(twin->free_group_end(), Answer::served);
  EXPECT_EQ(twin.translate(row), (Locs{4, 5}));
  EXPECT_EQ(twin.census().swa.free, (Pages{1, 3, 4}));
}

TEST(FreeGroup, ClearForgetsAnOpenGroup) {
  Twin twin(paged_pool(2, 4));
  const Locs row = twin.extend(0, 4);
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  twin.free(row);
  ASSERT_EQ(twin->clear(), Answer::served);
  EXPECT_EQ(twin->free_group_end(), Answer::refused);
  EXPECT_EQ(twin.gauges().available, 8);
  EXPECT_TRUE(twin.census().full.deferred.empty());
}

}  // namespace
}  // namespace poolproof::testing
