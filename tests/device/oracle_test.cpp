// The KV data oracle on a device: what is written through locs, peers or a ring is verified there, and the first
// position that reads otherwise comes back with all that there is to know of it.

#include <gtest/gtest.h>

#include "model/stamp.hpp"
#include "tests/device/bed.hpp"
#include "tests/device/devices.hpp"

namespace poolproof {
namespace {

constexpr Tokens page = 16;

class Oracle : public OnDevice {
 protected:
  /// Two requests of 40 tokens; row i's owner is generation i + 1.
  void lend(DevicePools& pools) {
    const Batch requests = new_requests(device, 2, 40);
    locs_ = DeviceArray<Loc>(device, 80, "locs");
    ASSERT_EQ(pools.alloc_extend(requests.extend(), locs_.data()), Answer::served);
  }
  kernels::StampBatch batch(StampKind kind) {
    const std::vector<kernels::StampRow> rows{{0, 0, 1, make_stamp(1, 0, kind)}, {40, 0, 2, make_stamp(2, 0, kind)}};
    rows_ = DeviceArray<kernels::StampRow>(device, 2, "rows");
    rows_.upload(rows);
    kernels::StampBatch made;
    made.locs = locs_.data();
    made.count = 80;
    made.rows = rows_.data();
    made.row_count = 2;
    return made;
  }
  [[nodiscard]] Loc loc(std::int64_t i) {
    Loc one = 0;
    device->download(&one, locs_.data() + i, sizeof(one));
    return one;
  }

  DeviceArray<Loc> locs_;
  DeviceArray<kernels::StampRow> rows_;
};

INSTANTIATE_TEST_SUITE_P(Devices, Oracle, all_devices, device_test_name);

TEST_P(Oracle, WhatEachOwnerWroteIsReadBackThroughLocsAndPeers) {
  DevicePools pools(device, paired_geometry(page, 16));
  lend(pools);
  pools.write_full(batch(StampKind::full));
  pools.write_swa(batch(StampKind::swa));
  EXPECT_FALSE(pools.verify_full(batch(StampKind::full)));
  EXPECT_FALSE(pools.verify_swa(batch(StampKind::swa)));
}

TEST_P(Oracle, TheFirstPositionThatReadsOtherwiseIsNamedWhole) {
  DevicePools pools(device, paired_geometry(page, 16));
  lend(pools);
  pools.write_full(batch(StampKind::full));
  // Somebody else writes to positions 30 and 7 of the second row.
  for (const std::int64_t i : {70, 47}) {
    kernels::StampBatch foreign;
    foreign.locs = locs_.data() + i;
    foreign.count = 1;
    foreign.single = {0, 3, -1, make_stamp(9, 0, StampKind::full)};
    pools.write_full(foreign);
  }
  const auto found = pools.verify_full(batch(StampKind::full));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->index, 47);
  EXPECT_EQ(found->row, 1);
  EXPECT_EQ(found->position, 7);
  EXPECT_EQ(found->loc, loc(47));
  EXPECT_EQ(found->address, loc(47));
  EXPECT_EQ(found->expected, make_stamp(2, 7, StampKind::full));
  EXPECT_EQ(found->seen, make_stamp(9, 3, StampKind::full));
}

TEST_P(Oracle, ALocWithoutAPeerReadsWhatLiesInThePaddingSlot) {
  DevicePools pools(device, paired_geometry(page, 16));
  lend(pools);
  pools.write_swa(batch(StampKind::swa));
  pools.clear_mapping(locs_.data() + 12, 1);
  const auto found = pools.verify_swa(batch(StampKind::swa));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->row, 0);
  EXPECT_EQ(found->position, 12);
  EXPECT_EQ(found->address, 0);
  EXPECT_EQ(found->seen, 0U);
}

/// Found by the host grid's orders: positions that meet in one ring row were left to whichever thread came last.
TEST_P(Oracle, OfPositionsInOneRingRowTheLastIsStored) {
  Geometry g = paired_geometry(page, 64);
  g.ring = 32;
  g.window = 32;
  g.reqs = 2;
  DevicePools pools(device, g);
  lend(pools);
  pools.write_swa(batch(StampKind::ring));
  kernels::StampBatch last = batch(StampKind::ring);
  // The last 32 positions of each row: 8..39.
  for (const std::int64_t row : {0, 1}) {
    last.rows = nullptr;
    last.row_count = 1;
    last.locs = locs_.data() + 40 * row + 8;
    last.count = 32;
    last.single = {0, 8, row + 1, make_stamp(static_cast<std::uint32_t>(row + 1), 0, StampKind::ring)};
    EXPECT_FALSE(pools.verify_swa(last)) << "row " << row;
  }
}

TEST_P(Oracle, AFullSizedPoolIsWrittenAndVerified) {
  if (GetParam() == DeviceName::host_grid) {
    GTEST_SKIP() << "skipped: 44,482,560 tokens are a GPU's work";
  }
  constexpr Tokens tokens = 44'482'560;
  Geometry g = paired_geometry(256, tokens / 256);
  DevicePools pools(device, g);
  const Batch request = new_requests(device, 1, tokens);
  locs_ = DeviceArray<Loc>(device, tokens, "locs");
  ASSERT_EQ(pools.alloc_extend(request.extend(), locs_.data()), Answer::served);
  kernels::StampBatch all;
  all.locs = locs_.data();
  all.count = tokens;
  all.single = {0, 0, -1, make_stamp(1, 0, StampKind::full)};
  pools.write_full(all);
  pools.write_swa(all);
  EXPECT_FALSE(pools.verify_full(all));
  EXPECT_FALSE(pools.verify_swa(all));
  EXPECT_TRUE(nothing_wrong(pools.census()));
  EXPECT_EQ(pools.census().mapped, tokens);
}

}  // namespace
}  // namespace poolproof
