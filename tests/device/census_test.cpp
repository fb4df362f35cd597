// The census on the device: clean on what is right, and each thing that can be wrong counted as that.

#include <gtest/gtest.h>

#include <functional>

#include "tests/device/bed.hpp"
#include "tests/device/devices.hpp"

namespace poolproof {
namespace {

constexpr std::int64_t pages = 40;
constexpr Tokens lent_tokens = 30;

/// Pools with their memory in reach, to be spoilt.
class SpoiltPools final : public DevicePools {
 public:
  SpoiltPools(std::shared_ptr<Device> device, Tokens page)
      : DevicePools(std::move(device), paired_geometry(page, pages)) {}
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

/// Pools with one request of 30 tokens.
struct CensusBed {
  CensusBed(const std::shared_ptr<Device>& device, Tokens page_size)
      : page(page_size), pools(device, page), locs(device, lent_tokens, "locs"), lent(lent_tokens) {
    const Batch request = new_requests(device, 1, lent_tokens);
    EXPECT_EQ(pools.alloc_extend(request.extend(), locs.data()), Answer::served);
    locs.download(lent);
    EXPECT_TRUE(nothing_wrong(pools.census()));
  }
  /// Eight neighbours, from a multiple of eight on.
  void set_line(Loc first, Loc first_peer) {
    for (Loc k = 0; k < 8; ++k) {
      pools.set_entry(first + k, first_peer + k);
    }
  }

  Tokens page;
  SpoiltPools pools;
  DeviceArray<Loc> locs;
  std::vector<Loc> lent;
};

/// The census looks at eight neighbours at once where pages are wide enough, and at each where they are not.
class CensusOnDevice : public OnDevice {
 protected:
  void on_each(const std::vector<Tokens>& page_sizes, const std::function<void(CensusBed&)>& test) {
    for (const Tokens page : page_sizes) {
      SCOPED_TRACE(page);
      CensusBed bed(device, page);
      test(bed);
    }
  }
  void on_each(const std::function<void(CensusBed&)>& test) { on_each({4, 16}, test); }
  void on_wide_pages(const std::function<void(CensusBed&)>& test) { on_each({8, 16}, test); }
};

INSTANTIATE_TEST_SUITE_P(Devices, CensusOnDevice, all_devices, device_test_name);

TEST_P(CensusOnDevice, CountsWhatIsThere) {
  on_each([](CensusBed& bed) {
    const kernels::CensusCounts counts = bed.pools.census();
    const std::int64_t lent_pages = (lent_tokens + bed.page - 1) / bed.page;
    EXPECT_EQ(counts.full_listed, pages - lent_pages);
    EXPECT_EQ(counts.swa_listed, pages - lent_pages);
    EXPECT_EQ(counts.mapped, lent_tokens);
  });
}

TEST_P(CensusOnDevice, StagedAndDeferredPagesCountAsListed) {
  on_each([](CensusBed& bed) {
    bed.pools.free_group_begin();
    bed.pools.free(Side::both, bed.locs.data(), lent_tokens);
    const kernels::CensusCounts counts = bed.pools.census();
    EXPECT_TRUE(nothing_wrong(counts));
    EXPECT_EQ(counts.full_listed, pages);
    EXPECT_EQ(counts.mapped, 0);
  });
}

TEST_P(CensusOnDevice, PageZeroInAList) {
  on_each([](CensusBed& bed) {
    bed.pools.set_free(Pool::swa, 3, 0);
    EXPECT_EQ(bed.pools.census().padding, 1);
  });
}

TEST_P(CensusOnDevice, APageThatThePoolDoesNotHave) {
  on_each([](CensusBed& bed) {
    bed.pools.set_free(Pool::full, 3, pages + 1);
    bed.pools.set_free(Pool::full, 4, -7);
    EXPECT_EQ(bed.pools.census().outside, 2);
  });
}

TEST_P(CensusOnDevice, APageThatStandsTwice) {
  on_each([](CensusBed& bed) {
    bed.pools.set_free(Pool::full, 3, bed.pools.free_at(Pool::full, 9));
    EXPECT_EQ(bed.pools.census().repeated, 1);
  });
}

TEST_P(CensusOnDevice, AnEntryThatIsNoLocOfTheSwaPool) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry(bed.lent[2], (pages + 1) * bed.page);
    bed.pools.set_entry(bed.lent[3], bed.page - 1);
    EXPECT_EQ(bed.pools.census().peer_outside, 2);
  });
}

TEST_P(CensusOnDevice, APeerOfTwoLocs) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry(bed.lent[2], bed.pools.entry(bed.lent[3]));
    EXPECT_EQ(bed.pools.census().peer_repeated, 1);
  });
}

TEST_P(CensusOnDevice, APeerOfLocsFarApart) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry(bed.lent[2], bed.pools.entry(bed.lent[29]));
    EXPECT_EQ(bed.pools.census().peer_repeated, 1);
  });
}

TEST_P(CensusOnDevice, AnEntryWhoseSwaPageIsFree) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry(bed.lent[2], Loc{bed.pools.free_at(Pool::swa, 0)} * bed.page);
    EXPECT_EQ(bed.pools.census().peer_idle, 1);
  });
}

TEST_P(CensusOnDevice, AnEntryOfAFullPageThatIsFree) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry(Loc{bed.pools.free_at(Pool::full, 0)} * bed.page, bed.pools.entry(bed.lent[0]));
    bed.pools.set_entry(bed.lent[0], 0);
    EXPECT_EQ(bed.pools.census().idle_mapped, 1);
  });
}

TEST_P(CensusOnDevice, ALastEntryThatIsNotMinusOne) {
  on_each([](CensusBed& bed) {
    bed.pools.set_entry((pages + 1) * bed.page, 0);
    EXPECT_EQ(bed.pools.census().tail_wrong, 1);
  });
}

TEST_P(CensusOnDevice, PeersInAnotherOrderAreNoFault) {
  on_each([](CensusBed& bed) {
    for (std::size_t i = 0; i + 1 < lent_tokens; i += 3) {
      const Loc first = bed.pools.entry(bed.lent[i]);
      bed.pools.set_entry(bed.lent[i], bed.pools.entry(bed.lent[i + 1]));
      bed.pools.set_entry(bed.lent[i + 1], first);
    }
    const kernels::CensusCounts counts = bed.pools.census();
    EXPECT_TRUE(nothing_wrong(counts));
    EXPECT_EQ(counts.mapped, lent_tokens);
  });
}

// ---- eight neighbours that are wrong together

TEST_P(CensusOnDevice, ALineOfPeersOfTwoLines) {
  on_wide_pages([](CensusBed& bed) {
    bed.set_line(bed.lent[8], bed.pools.entry(bed.lent[16]));
    const kernels::CensusCounts counts = bed.pools.census();
    EXPECT_EQ(counts.peer_repeated, 8);
    EXPECT_EQ(counts.mapped, lent_tokens);
  });
}

TEST_P(CensusOnDevice, ALineWhoseSwaPageIsFree) {
  on_wide_pages([](CensusBed& bed) {
    bed.set_line(bed.lent[8], Loc{bed.pools.free_at(Pool::swa, 0)} * bed.page);
    EXPECT_EQ(bed.pools.census().peer_idle, 8);
  });
}

TEST_P(CensusOnDevice, ALineOfAFullPageThatIsFree) {
  on_wide_pages([](CensusBed& bed) {
    bed.set_line(Loc{bed.pools.free_at(Pool::full, 0)} * bed.page, bed.pools.entry(bed.lent[8]));
    const kernels::CensusCounts counts = bed.pools.census();
    EXPECT_EQ(counts.idle_mapped, 8);
    EXPECT_EQ(counts.peer_repeated, 8);
  });
}

TEST_P(CensusOnDevice, ALineBeyondTheSwaPool) {
  on_wide_pages([](CensusBed& bed) {
    bed.set_line(bed.lent[8], (pages + 1) * bed.page);
    EXPECT_EQ(bed.pools.census().peer_outside, 8);
  });
}

TEST_P(CensusOnDevice, ALineOutOfLine) {
  on_wide_pages([](CensusBed& bed) {
    // Neighbours, but from no multiple of eight on: of two words of bits, or of two pages.
    bed.set_line(bed.lent[8], bed.pools.entry(bed.lent[8]) + 4);
    EXPECT_EQ(bed.pools.census().peer_repeated, 4);
  });
}

/// A whole warp of entries that meet in few words.
TEST_P(CensusOnDevice, ManyLinesOfTheSamePeers) {
  constexpr Tokens tokens = 1024;
  SpoiltPools pools(device, 32);
  const Batch request = new_requests(device, 1, tokens);
  DeviceArray<Loc> locs(device, tokens, "locs");
  ASSERT_EQ(pools.alloc_extend(request.extend(), locs.data()), Answer::served);
  std::vector<Loc> lent(tokens);
  locs.download(lent);
  const Loc peer = pools.entry(lent[0]);
  for (std::size_t i = 8; i < tokens / 2; ++i) {
    pools.set_entry(lent[i], peer + static_cast<Loc>(i % 8));
  }
  EXPECT_EQ(pools.census().peer_repeated, tokens / 2 - 8);
}

}  // namespace
}  // namespace poolproof
