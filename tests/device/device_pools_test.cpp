// What an engine that links DevicePools relies on: what waits and what does not, one launch where one is promised,
// recordings, and sizes at which blocks meet. What the allocators answer is checked by traces (props, twins_test).

#include <gtest/gtest.h>

#include <numeric>

#include "tests/device/bed.hpp"
#include "tests/device/devices.hpp"

namespace poolproof {
namespace {

class Pools : public OnDevice {
 protected:
  std::vector<Loc> fetch(const DeviceArray<Loc>& array, Tokens count) const {
    std::vector<Loc> locs(static_cast<std::size_t>(count));
    array.download(locs);
    return locs;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, Pools, all_devices, device_test_name);

TEST_P(Pools, ExtendDecodeAndSegmentFreesNeitherWaitNorAllocate) {
  auto counting = std::make_shared<CountingDevice>(device);
  DevicePools pools(counting, paired_geometry(16, 64));
  const Batch requests = new_requests(device, 4, 100);
  DeviceArray<Loc> locs(device, requests.tokens(), "locs");
  DeviceArray<Loc> next(device, 4, "locs of a decode");
  counting->waits = counting->allocations = counting->launches = 0;

  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  EXPECT_EQ(counting->launches, 1);
  std::vector<Loc> last(4);
  for (std::size_t i = 0; i < 4; ++i) {
    device->download(&last[i], locs.data() + (100 * (i + 1) - 1), sizeof(Loc));
  }
  const Batch grown(device, std::vector<Pos>(4, 100), std::vector<Pos>(4, 101), last);
  counting->launches = 0;
  ASSERT_EQ(pools.alloc_decode(grown.decode(), next.data()), Answer::served);
  EXPECT_EQ(counting->launches, 1);
  const DeviceSegment segment{locs.data(), 100};
  counting->launches = 0;
  pools.free_segments(Side::both, {&segment, 1});
  EXPECT_EQ(counting->launches, 1);
  pools.free(Side::both, locs.data() + 100, 100);
  EXPECT_EQ(counting->launches, 3);
  pools.free_group_begin();
  pools.free(Side::both, locs.data() + 200, 100);
  pools.free_group_end();
  EXPECT_EQ(counting->waits, 0);
  EXPECT_EQ(counting->allocations, 0);

  // Now it is asked, and only what the host does not know is learnt.
  EXPECT_EQ(pools.available(Pool::full), Tokens{16} * (64 - 7));
  EXPECT_EQ(counting->waits, 1);
  EXPECT_EQ(pools.available(Pool::swa), Tokens{16} * (64 - 7));
  EXPECT_EQ(counting->waits, 1);
}

TEST_P(Pools, TheHostCountsSegmentsOfALayoutWithoutPeersByThemselves) {
  auto counting = std::make_shared<CountingDevice>(device);
  DevicePools pools(counting, {.layout = Layout::paged, .page = 16, .full = 16 * 64});
  const Batch requests = new_requests(device, 2, 100);
  DeviceArray<Loc> locs(device, requests.tokens(), "locs");
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  const DeviceSegment segment{locs.data(), 100};
  counting->waits = 0;
  pools.free_segments(Side::both, {&segment, 1});
  EXPECT_EQ(pools.available(Pool::full), Tokens{16} * (64 - 7));
  EXPECT_EQ(counting->waits, 0);
  EXPECT_EQ(pools.learn().full.free, 64 - 7);
}

TEST_P(Pools, WhatASetShapedFreeReturnedIsLearntBeforeARefusal) {
  DevicePools pools(device, paired_geometry(16, 8));
  const Batch requests = new_requests(device, 1, 128);
  DeviceArray<Loc> locs(device, 128, "locs");
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::refused);
  pools.free(Side::both, locs.data(), 128);
  EXPECT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
}

TEST_P(Pools, IndexArraysMayBeOverwrittenRightAfterTheCall) {
  DevicePools pools(device, paired_geometry(16, 32));
  const Batch requests = new_requests(device, 1, 160);
  DeviceArray<Loc> locs(device, 160, "locs");
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  const DeviceSegment segment{locs.data(), 160};
  pools.free_group_begin();
  pools.free_segments(Side::both, {&segment, 1});
  locs.zero();
  pools.free_group_end();
  EXPECT_EQ(pools.available(Pool::full), 16 * 32);
  EXPECT_EQ(pools.available(Pool::swa), 16 * 32);
  EXPECT_TRUE(nothing_wrong(pools.census()));
}

TEST_P(Pools, MoreRequestsThanABlockHasThreadsAreLentAPageEach) {
  constexpr std::int64_t requests = 5000;
  DevicePools pools(device, paired_geometry(4, 3 * requests));
  const Batch prompts = new_requests(device, requests, 4);
  DeviceArray<Loc> locs(device, 4 * requests, "locs");
  ASSERT_EQ(pools.alloc_extend(prompts.extend(), locs.data()), Answer::served);
  std::vector<Loc> prompt_locs = fetch(locs, 4 * requests);
  std::vector<Loc> last;
  for (std::size_t i = 3; i < prompt_locs.size(); i += 4) {
    last.push_back(prompt_locs[i]);
  }
  // Every third request is inside a page, the others open one.
  std::vector<Pos> seq;
  for (std::int64_t i = 0; i < requests; ++i) {
    seq.push_back(i % 3 == 0 ? 6 : 5);
  }
  const Batch grown(device, std::vector<Pos>(requests, 4), seq, last);
  ASSERT_EQ(pools.alloc_decode(grown.decode(), locs.data()), Answer::served);
  std::vector<Loc> decoded = fetch(locs, requests);
  std::vector<Loc> all = prompt_locs;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    if (seq[i] == 6) {
      EXPECT_EQ(decoded[i], last[i] + 1) << i;
    } else {
      EXPECT_EQ(decoded[i] % 4, 0) << i;
      all.push_back(decoded[i]);
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a loc was lent twice";
  EXPECT_TRUE(nothing_wrong(pools.census()));
}

TEST_P(Pools, MoreSegmentsThanALaunchTakesGoBackInOrderAndAPageThatTwoLaunchesTouchOnce) {
  constexpr std::int64_t pages = 150;
  DevicePools pools(device, paired_geometry(4, pages));
  const Batch requests = new_requests(device, 1, 4 * pages);
  DeviceArray<Loc> locs(device, 4 * pages, "locs");
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  const std::vector<Loc> lent = fetch(locs, 4 * pages);
  // Full page 1 and full page 150 come to share the SWA page of the first: a load-back at another offset.
  const std::vector<Loc> full{lent[lent.size() - 1], lent[0], lent[1]};
  const std::vector<Loc> swa{lent[0], 0, 0};
  std::vector<Loc> first_peers(4);
  DeviceArray<Loc> on_device(device, 8, "entries");
  pools.translate(locs.data(), 4, on_device.data());
  on_device.download(first_peers);
  const std::vector<Loc> entries{full[0], first_peers[0]};
  on_device.upload(entries);
  pools.clear_mapping(locs.data(), 1);
  pools.set_mapping(on_device.data(), on_device.data() + 1, 1);

  std::vector<DeviceSegment> segments;
  for (std::int64_t i = 0; i < pages; ++i) {
    segments.push_back({locs.data() + 4 * i, 4});
  }
  pools.free_segments(Side::both, segments);
  PoolCensus list;
  pools.download_lists(Pool::full, list);
  ASSERT_EQ(list.free.size(), static_cast<std::size_t>(pages));
  for (std::int64_t i = 0; i < pages; ++i) {
    EXPECT_EQ(list.free[static_cast<std::size_t>(i)], lent[static_cast<std::size_t>(4 * i)] / 4) << "segment " << i;
  }
  pools.download_lists(Pool::swa, list);
  EXPECT_EQ(list.free.size(), static_cast<std::size_t>(pages));
  EXPECT_TRUE(nothing_wrong(pools.census()));
}

TEST_P(Pools, RecordedCallsRunAgainAsOften) {
  DevicePools pools(device, paired_geometry(16, 64));
  const Batch requests = new_requests(device, 3, 40);
  DeviceArray<Loc> locs(device, requests.tokens(), "locs");
  DeviceArray<Loc> next(device, 3, "locs of a decode");
  ASSERT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
  const std::vector<Loc> first = fetch(locs, requests.tokens());
  const Batch grown(device, std::vector<Pos>(3, 40), std::vector<Pos>(3, 41), {first[39], first[79], first[119]});
  const std::vector<DeviceSegment> segments{{locs.data(), 40}, {locs.data() + 40, 40}, {locs.data() + 80, 40}};
  pools.free_segments(Side::both, segments);

  const RecordedCalls calls = pools.record([&] {
    EXPECT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served);
    EXPECT_EQ(pools.alloc_decode(grown.decode(), next.data()), Answer::served);
    pools.free_segments(Side::both, segments);
  });
  EXPECT_EQ(calls.full_pages_needed, 9);
  EXPECT_EQ(pools.learn().full.free, 64) << "recording runs nothing";
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pools.replay(calls));
  }
  EXPECT_EQ(fetch(locs, requests.tokens()), first) << "pages go back and come again in the same order";
  EXPECT_EQ(fetch(next, 3), (std::vector<Loc>{first[39] + 1, first[79] + 1, first[119] + 1}));
  EXPECT_EQ(pools.available(Pool::full), 16 * 64);
  EXPECT_EQ(pools.available(Pool::swa), 16 * 64);
  EXPECT_TRUE(nothing_wrong(pools.census()));
}

TEST_P(Pools, RecordedCallsThatDoNotFitDoNotRun) {
  DevicePools pools(device, paired_geometry(16, 6));
  const Batch requests = new_requests(device, 1, 64);
  DeviceArray<Loc> locs(device, 64, "locs");
  const RecordedCalls calls =
      pools.record([&] { EXPECT_EQ(pools.alloc_extend(requests.extend(), locs.data()), Answer::served); });
  EXPECT_TRUE(pools.replay(calls));
  EXPECT_EQ(pools.available(Pool::full), 32);
  EXPECT_FALSE(pools.replay(calls));
  EXPECT_EQ(pools.learn().full.free, 2);
}

TEST_P(Pools, APoolThatDoesNotFitIsRefusedWithTheBytesWanted) {
  Geometry huge = paired_geometry(1, Tokens{1} << 30);
  if (GetParam() == DeviceName::host_grid) {
    GTEST_SKIP() << "skipped: the host's memory is handed out on first touch";
  }
  std::vector<std::unique_ptr<DevicePools>> many;
  try {
    for (int i = 0; i < 64; ++i) {
      many.push_back(std::make_unique<DevicePools>(device, huge));
    }
    FAIL() << "64 pools of 2^30 tokens fit";
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find("bytes wanted for"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("free on"), std::string::npos) << error.what();
    EXPECT_FALSE(error.beyond_repair());
  }
  many.clear();
  EXPECT_NO_THROW(DevicePools(device, paired_geometry(16, 64))) << "the device can still be used";
}

}  // namespace
}  // namespace poolproof
