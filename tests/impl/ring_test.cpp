// Hybrid pools with a ring against section 4 of docs/semantics.md.
#include "tests/impl/twin.hpp"

namespace poolproof::testing {
namespace {

using Pages = std::vector<std::int64_t>;

TEST(RingPool, LendingTouchesTheFullPoolAlone) {
  Twin twin(ring_pool(4, 6, 2, 8));
  const Locs row = twin.extend(0, 20);
  EXPECT_EQ(row.size(), 20U);
  EXPECT_EQ(twin.translate(row), Locs(20, 0));
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.full_available, 4);
  EXPECT_EQ(gauges.available, 4);
  EXPECT_EQ(gauges.full_size, 24);
  EXPECT_EQ(gauges.size, 16);  // two rings of 6 rows, rounded up to pages of 4
  EXPECT_EQ(gauges.swa_pool_available, 8);
  EXPECT_EQ(gauges.swa_pool_size, 8);
  EXPECT_EQ(twin.decode(21, row.back()), 24);
  EXPECT_EQ(twin.gauges().swa_pool_available, 8);
}

TEST(RingPool, TokenAllocAndTailsTouchTheFullPoolAlone) {
  Twin twin(ring_pool(1, 6, 1, 4));
  EXPECT_EQ(twin.translate(twin.alloc(2)), (Locs{0, 0}));
  Locs out;
  ASSERT_EQ(twin->alloc_extend_swa_tail(0, 3, -1, 3, 3, out), Answer::served);
  EXPECT_EQ(twin.translate(out), (Locs{0, 0, 0}));
  EXPECT_EQ(twin.gauges().full_available, 1);
  EXPECT_EQ(twin.gauges().swa_pool_available, 1);
}

TEST(RingPool, CapacityIsFreeSlotsTimesTheRoundedRing) {
  Twin twin(ring_pool(4, 6, 2, 6));
  EXPECT_EQ(twin.gauges().swa_available, 2 * 8);
  EXPECT_EQ(twin.gauges().swa_size, 2 * 8);
  const std::int64_t slot = twin.take_slot();
  EXPECT_EQ(twin.gauges().swa_available, 8);
  twin.extend(0, 12);
  EXPECT_EQ(twin.gauges().swa_available, 8);
  ASSERT_EQ(twin->give_slot(slot), Answer::served);
  EXPECT_EQ(twin.gauges().swa_available, 16);
  EXPECT_EQ(twin.gauges().swa_size, 16);
}

TEST(RingPool, AnyFreeClearsTheMappingAndReturnsNoSwaPage) {
  for (const Side side : {Side::both, Side::swa, Side::full}) {
    for (const bool group : {false, true}) {
      Twin twin(ring_pool(4, 6, 2, 8));
      const Locs row = twin.extend(0, 8);
      ASSERT_EQ(twin->set_full_to_swa_mapping(row, Locs{8, 9, 10, 11, 12, 13, 14, 15}), Answer::served);
      if (group) {
        ASSERT_EQ(twin->free_group_begin(), Answer::served);
      }
      twin.free_segment({row.begin(), row.begin() + 4}, 0, side);
      twin.free({row[5]}, side);
      EXPECT_EQ(twin.translate(row), Locs(8, 0));
      if (group) {
        EXPECT_TRUE(twin.census().swa.deferred.empty());
        ASSERT_EQ(twin->free_group_end(), Answer::served);
      }
      EXPECT_EQ(twin.census().swa.free, (Pages{1, 2}));
      EXPECT_EQ(twin.gauges().full_available, side == Side::swa ? 16 : 24);
    }
  }
}

TEST(RingPool, TheWarmUpOfAServer) {
  Twin twin(ring_pool(256, 4, 1, 256));
  const std::int64_t slot = twin.take_slot();
  Locs row = twin.extend(0, 19);
  for (Pos length = 20; length <= 27; ++length) {
    row.push_back(twin.decode(length, row.back()));
  }
  ASSERT_EQ(twin->free_group_begin(), Answer::served);
  twin.free_segment(row, 0);
  ASSERT_EQ(twin->give_slot(slot), Answer::served);
  ASSERT_EQ(twin->free_group_end(), Answer::served);
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.full_available, gauges.full_size);
  EXPECT_EQ(gauges.swa_pool_available, gauges.swa_pool_size);
}

TEST(RequestSlots, AreNumberedFromOneAndRecycledSoon) {
  Twin twin(ring_pool(4, 2, 2, 4));
  EXPECT_EQ(twin.take_slot(), 1);
  EXPECT_EQ(twin.take_slot(), 2);
  std::int64_t slot = -1;
  EXPECT_EQ(twin->take_slot(slot), Answer::refused);
  EXPECT_EQ(slot, -1);
  ASSERT_EQ(twin->give_slot(1), Answer::served);
  EXPECT_EQ(twin.gauges().slots_free, 1);
  EXPECT_EQ(twin.census().free_slots, (Pages{1}));
  EXPECT_EQ(twin.take_slot(), 1);
}

TEST(RequestSlots, EachIsTakenByOneOwner) {
  Geometry g = ring_pool(4, 2, 2, 4);
  g.reqs = 3;
  Twin twin(g);
  twin.take_slot();
  twin.take_slot();
  ASSERT_EQ(twin->give_slot(1), Answer::served);
  EXPECT_EQ(twin.census().free_slots, (Pages{1, 3}));
  EXPECT_EQ(twin.take_slot(), 1);
  EXPECT_EQ(twin.take_slot(), 3);
}

}  // namespace
}  // namespace poolproof::testing
