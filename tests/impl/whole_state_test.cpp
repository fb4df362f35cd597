// Clearing, resizing, snapshots, copies, KV storage and large pools.
#include <chrono>
#include <fstream>
#include <string>

#include "tests/impl/twin.hpp"

namespace poolproof::testing {
namespace {

using Pages = std::vector<std::int64_t>;

TEST(Clear, IsAsNewAndForgetsSnapshots) {
  Twin twin(hybrid_pool(2, 4, 4));
  const Census fresh = twin.census();
  const Pages free_full = fresh.full.free;
  const Pages free_slots = fresh.free_slots;
  const Locs row = twin.extend(0, 5);
  twin.take_slot();
  ASSERT_EQ(twin->backup_state(0), Answer::served);
  ASSERT_EQ(twin->clear(), Answer::served);
  EXPECT_EQ(twin.translate(row), Locs(5, 0));
  EXPECT_EQ(twin.gauges().mapping_tail, -1);
  EXPECT_EQ(twin.census().full.free, free_full);
  EXPECT_EQ(twin.census().swa.free, free_full);
  EXPECT_EQ(twin.census().free_slots, free_slots);
  EXPECT_EQ(twin->restore_state(0), Answer::refused);
  EXPECT_EQ(twin.extend(0, 5), row);
}

TEST(Resize, GivesTheNewCapacityAsNew) {
  Twin twin(hybrid_pool(2, 4, 4));
  twin.extend(0, 5);
  twin.take_slot();
  ASSERT_EQ(twin->backup_state(0), Answer::served);
  ASSERT_EQ(twin->resize(12, 6), Answer::served);
  const Gauges gauges = twin.gauges();
  EXPECT_EQ(gauges.full_size, 12);
  EXPECT_EQ(gauges.full_available, 12);
  EXPECT_EQ(gauges.swa_size, 6);
  EXPECT_EQ(gauges.swa_available, 6);
  EXPECT_EQ(gauges.slots_free, 2);
  EXPECT_EQ(gauges.mapping_tail, -1);
  EXPECT_EQ(twin.census().mapping.size(), 12U + 2 + 1);
  EXPECT_EQ(twin->restore_state(0), Answer::refused);
  EXPECT_EQ(twin.translate(twin.extend(0, 6)), (Locs{2, 3, 4, 5, 6, 7}));
}

TEST(Resize, ASmallerSinglePoolLendsWithinIt) {
  Twin twin(token_pool(8));
  ASSERT_EQ(twin->resize(2, 0), Answer::served);
  EXPECT_EQ(twin.alloc(2), (Locs{1, 2}));
  Locs out;
  EXPECT_EQ(twin->alloc(1, out), Answer::refused);
}

TEST(Snapshot, RestoresFreeStagedAndMappingAsOftenAsAsked) {
  Geometry g = hybrid_pool(2, 6, 6);
  g.need_sort = true;
  Twin twin(g);
  const Locs row = twin.extend(0, 6);
  twin.free({row[2]}, Side::swa);
  twin.free({row[4]});
  const Gauges gauges = twin.gauges();
  const Census before = twin.census();
  const Locs mapping(before.mapping.begin(), before.mapping.end());
  ASSERT_EQ(twin->backup_state(3), Answer::served);
  for (int round = 0; round < 2; ++round) {
    twin.extend(0, 8);
    twin.free({row[0]});
    ASSERT_NE(twin.gauges(), gauges);
    ASSERT_EQ(twin->restore_state(3), Answer::served);
    EXPECT_EQ(twin.gauges(), gauges);
    const Census after = twin.census();
    EXPECT_EQ(after.full, before.full);
    EXPECT_EQ(after.swa, before.swa);
    EXPECT_EQ(Locs(after.mapping.begin(), after.mapping.end()), mapping);
  }
  EXPECT_EQ(twin->restore_state(4), Answer::refused);
}

TEST(Snapshot, LeavesRequestSlotsAlone) {
  Twin twin(paged_pool(2, 4));
  ASSERT_EQ(twin->backup_state(0), Answer::served);
  twin.take_slot();
  twin.extend(0, 2);
  ASSERT_EQ(twin->restore_state(0), Answer::served);
  EXPECT_EQ(twin.gauges().slots_free, 1);
  EXPECT_EQ(twin.gauges().available, 8);
}

TEST(Snapshot, ALaterBackupOfTheSameNameReplacesIt) {
  Twin twin(token_pool(4));
  ASSERT_EQ(twin->backup_state(0), Answer::served);
  twin.alloc(1);
  ASSERT_EQ(twin->backup_state(0), Answer::served);
  twin.alloc(2);
  ASSERT_EQ(twin->restore_state(0), Answer::served);
  EXPECT_EQ(twin.gauges().available, 3);
}

TEST(Clone, IsIndependentInEveryLayout) {
  for (const Geometry& g : {token_pool(8), paged_pool(2, 4, true), hybrid_pool(2, 4, 4), ring_pool(2, 4, 4, 4),
                            Geometry{.layout = Layout::pure_swa, .page = 1, .full = 8, .window = 2, .reqs = 2}}) {
    Twin twin(g);
    const Locs row = twin.extend(0, 2);
    ASSERT_EQ(twin->write_full(row, std::vector<Stamp>{7, 8}), Answer::served);
    ASSERT_EQ(twin->backup_state(0), Answer::served);
    Twin copy = twin.clone();
    EXPECT_EQ(copy.gauges(), twin.gauges());
    copy.free(row);
    copy.take_slot();
    EXPECT_NE(copy.gauges(), twin.gauges());
    EXPECT_EQ(twin.gauges().full_available, 6);
    EXPECT_EQ(twin.gauges().slots_free, 2);
    ASSERT_EQ(copy->write_full(row, std::vector<Stamp>{1, 2}), Answer::served);
    std::vector<Stamp> stamps(2);
    ASSERT_EQ(twin->read_full(row, stamps), Answer::served);
    EXPECT_EQ(stamps, (std::vector<Stamp>{7, 8}));
    ASSERT_EQ(copy->restore_state(0), Answer::served);
    EXPECT_EQ(copy.gauges().full_available, 6);
  }
}

TEST(Kv, IsReachedThroughTheMapping) {
  Twin twin(hybrid_pool(2, 4, 4));
  const Locs row = twin.extend(0, 4);
  const std::vector<Stamp> stamps{11, 12, 13, 14};
  ASSERT_EQ(twin->write_swa(row, -1, 0, stamps), Answer::served);
  ASSERT_EQ(twin->write_full(row, std::vector<Stamp>{1, 2, 3, 4}), Answer::served);
  std::vector<Stamp> seen(4);
  ASSERT_EQ(twin->read_swa(row, -1, 0, seen), Answer::served);
  EXPECT_EQ(seen, stamps);
  ASSERT_EQ(twin->read_full(row, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{1, 2, 3, 4}));

  // The peers of the first page move to another full page, and the KV with them.
  const Locs target = twin.extend(0, 2);
  twin.free(target, Side::swa);
  const Locs moved{row[0], row[1]};
  ASSERT_EQ(twin->set_full_to_swa_mapping(target, twin.translate(moved)), Answer::served);
  ASSERT_EQ(twin->clear_full_to_swa_mapping(moved), Answer::served);
  std::vector<Stamp> pair(2);
  ASSERT_EQ(twin->read_swa(target, -1, 0, pair), Answer::served);
  EXPECT_EQ(pair, (std::vector<Stamp>{11, 12}));
}

TEST(Kv, WithoutAPeerGoesToThePaddingSlot) {
  Twin twin(hybrid_pool(2, 4, 4));
  const Locs row = twin.extend(0, 4);
  ASSERT_EQ(twin->write_swa(row, -1, 0, std::vector<Stamp>{11, 12, 13, 14}), Answer::served);
  twin.free({row[0]}, Side::swa);
  ASSERT_EQ(twin->write_swa({row.data(), 2}, -1, 0, std::vector<Stamp>{99, 98}), Answer::served);
  std::vector<Stamp> seen(2);
  ASSERT_EQ(twin->read_swa({row.data() + 2, 2}, -1, 2, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{13, 14}));
}

TEST(Kv, OfARingIsAddressedBySlotAndPosition) {
  Twin twin(ring_pool(2, 8, 2, 4));
  const std::int64_t first = twin.take_slot();
  const std::int64_t second = twin.take_slot();
  const Locs row = twin.extend(0, 6);
  ASSERT_EQ(twin->write_swa(row, first, 0, std::vector<Stamp>{10, 11, 12, 13, 14, 15}), Answer::served);
  ASSERT_EQ(twin->write_swa(row, second, 0, std::vector<Stamp>{20, 21, 22, 23, 24, 25}), Answer::served);
  std::vector<Stamp> seen(4);
  ASSERT_EQ(twin->read_swa({row.data() + 2, 4}, first, 2, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{12, 13, 14, 15}));
  ASSERT_EQ(twin->read_swa({row.data(), 2}, first, 0, {seen.data(), 2}), Answer::served);
  EXPECT_EQ(seen[0], 14U);  // position 4 took the row of position 0
}

TEST(Kv, OfARingLongerThanTheWindowUsesAllItsRows) {
  Geometry g = ring_pool(2, 8, 2, 6);
  g.window = 4;
  Twin twin(g);
  const std::int64_t slot = twin.take_slot();
  const Locs row = twin.extend(0, 6);
  ASSERT_EQ(twin->write_swa(row, slot, 0, std::vector<Stamp>{10, 11, 12, 13, 14, 15}), Answer::served);
  std::vector<Stamp> seen(6);
  ASSERT_EQ(twin->read_swa(row, slot, 0, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{10, 11, 12, 13, 14, 15}));
}

TEST(Kv, OfARecycledSlotIsItsNewOwnersOnceWritten) {
  Twin twin(ring_pool(2, 8, 2, 4));
  const Locs row = twin.extend(0, 2);
  const std::int64_t slot = twin.take_slot();
  ASSERT_EQ(twin->write_swa(row, slot, 0, std::vector<Stamp>{10, 11}), Answer::served);
  ASSERT_EQ(twin->give_slot(slot), Answer::served);
  ASSERT_EQ(twin.take_slot(), slot);
  ASSERT_EQ(twin->write_swa(row, slot, 0, std::vector<Stamp>{20, 21}), Answer::served);
  std::vector<Stamp> seen(2);
  ASSERT_EQ(twin->read_swa(row, slot, 0, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{20, 21}));
}

TEST(Kv, OfPureSwaIsTheSlotsOwn) {
  Twin twin({.layout = Layout::pure_swa, .page = 1, .full = 4, .window = 2});
  const Locs row = twin.extend(0, 2);
  ASSERT_EQ(twin->write_swa(row, -1, 0, std::vector<Stamp>{5, 6}), Answer::served);
  std::vector<Stamp> seen(2);
  ASSERT_EQ(twin->read_swa(row, -1, 0, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{5, 6}));
}

std::int64_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident;
}

TEST(LargePool, CostsLittleUntilTokensAreLent) {
  Geometry g = hybrid_pool(256, 173'760, 43'440);
  ASSERT_EQ(g.full, 44'482'560);
  g.reqs = 4096;
  const std::int64_t resident_before = resident_pages();
  const auto start = std::chrono::steady_clock::now();
  Twin twin(g);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 0.5);
  EXPECT_LT(resident_pages() - resident_before, 4096);  // 16 MiB of 4 KiB pages; the arrays span more than 1 GiB
  EXPECT_EQ(twin.extend(0, 100'000).back(), 256 + 100'000 - 1);
  EXPECT_EQ(twin.gauges().full_available, g.full - 391 * g.page);
}

TEST(MakeHost, SaysWhatIsWrongWithAGeometry) {
  const auto made = make_host(paged_pool(3, 4));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().find("page"), std::string::npos);
}

}  // namespace
}  // namespace poolproof::testing
