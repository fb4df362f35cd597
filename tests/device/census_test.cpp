// The census on the device: clean on what is right, and each thing that can be wrong counted as that.

#include <gtest/gtest.h>

#include "tests/device/bed.hpp"
#include "tests/device/devices.hpp"

namespace poolproof {
namespace {

constexpr Tokens page = 4;
constexpr std::int64_t pages = 40;

/// Pools with their memory in reach, to be spoilt.
class SpoiltPools final : public DevicePools {
 public:
  explicit SpoiltPools(std::shared_ptr<Device> device) : DevicePools(std::move(device), paired_geometry(page, pages)) {}
  void set_free(Pool which, std::int64_t at, Page number) {
    device().upload(memory(which).free.data() + at, &number, sizeof(number));
  }
  [[nodiscard]] Page free_at(Pool which, std::int64_t at) {
    Page number = 0;
    device().download(&number, memory(which).free.data() + at, sizeof(number));
    return number;
  }
  void set_entry(Loc loc, Loc peer) { device().upload(view().mapping + loc, &peer, sizeof(peer)); }
  [[nodiscard]] Loc entry(Loc loc) {
    Loc peer = 0;
    device().download(&peer, view().mapping + loc, sizeof(peer));
    return peer;
  }
};

class CensusOnDevice : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (device == nullptr) {
      return;
    }
    pools_ = std::make_unique<SpoiltPools>(device);
    const Batch request = new_requests(device, 1, 30);
    locs_ = DeviceArray<Loc>(device, 30, "locs");
    ASSERT_EQ(pools_->alloc_extend(request.extend(), locs_.data()), Answer::served);
    lent_.resize(30);
    locs_.download(lent_);
    ASSERT_TRUE(nothing_wrong(pools_->census()));
  }

  std::unique_ptr<SpoiltPools> pools_;
  DeviceArray<Loc> locs_;
  std::vector<Loc> lent_;
};

INSTANTIATE_TEST_SUITE_P(Devices, CensusOnDevice, all_devices, device_test_name);

TEST_P(CensusOnDevice, CountsWhatIsThere) {
  const kernels::CensusCounts counts = pools_->census();
  EXPECT_EQ(counts.full_listed, pages - 8);
  EXPECT_EQ(counts.swa_listed, pages - 8);
  EXPECT_EQ(counts.mapped, 30);
}

TEST_P(CensusOnDevice, StagedAndDeferredPagesCountAsListed) {
  pools_->free_group_begin();
  pools_->free(Side::both, locs_.data(), 30);
  const kernels::CensusCounts counts = pools_->census();
  EXPECT_TRUE(nothing_wrong(counts));
  EXPECT_EQ(counts.full_listed, pages);
  EXPECT_EQ(counts.mapped, 0);
}

TEST_P(CensusOnDevice, PageZeroInAList) {
  pools_->set_free(Pool::swa, 3, 0);
  EXPECT_EQ(pools_->census().padding, 1);
}

TEST_P(CensusOnDevice, APageThatThePoolDoesNotHave) {
  pools_->set_free(Pool::full, 3, pages + 1);
  pools_->set_free(Pool::full, 4, -7);
  EXPECT_EQ(pools_->census().outside, 2);
}

TEST_P(CensusOnDevice, APageThatStandsTwice) {
  pools_->set_free(Pool::full, 3, pools_->free_at(Pool::full, 9));
  EXPECT_EQ(pools_->census().repeated, 1);
}

TEST_P(CensusOnDevice, AnEntryThatIsNoLocOfTheSwaPool) {
  pools_->set_entry(lent_[2], (pages + 1) * page);
  pools_->set_entry(lent_[3], page - 1);
  EXPECT_EQ(pools_->census().peer_outside, 2);
}

TEST_P(CensusOnDevice, APeerOfTwoLocs) {
  pools_->set_entry(lent_[2], pools_->entry(lent_[3]));
  EXPECT_EQ(pools_->census().peer_repeated, 1);
}

TEST_P(CensusOnDevice, AnEntryWhoseSwaPageIsFree) {
  pools_->set_entry(lent_[2], Loc{pools_->free_at(Pool::swa, 0)} * page);
  EXPECT_EQ(pools_->census().peer_idle, 1);
}

TEST_P(CensusOnDevice, AnEntryOfAFullPageThatIsFree) {
  pools_->set_entry(Loc{pools_->free_at(Pool::full, 0)} * page, pools_->entry(lent_[0]));
  pools_->set_entry(lent_[0], 0);
  EXPECT_EQ(pools_->census().idle_mapped, 1);
}

TEST_P(CensusOnDevice, ALastEntryThatIsNotMinusOne) {
  pools_->set_entry((pages + 1) * page, 0);
  EXPECT_EQ(pools_->census().tail_wrong, 1);
}

}  // namespace
}  // namespace poolproof
