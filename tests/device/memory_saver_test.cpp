// The memory saver's contract, on the host's memory everywhere and on a GPU's where there is one: what each call does,
// and what its errors say.

#include "impl/saver/memory_saver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "impl/cuda/cuda.hpp"
#include "impl/saver/content.hpp"
#include "impl/saver/host_memory.hpp"

namespace poolproof {
namespace {

enum class MemoryName : std::uint8_t { host, cuda };

std::string name_of(const testing::TestParamInfo<MemoryName>& info) {
  return info.param == MemoryName::cuda ? "cuda_memory" : "host_memory";
}

class Saver : public testing::TestWithParam<MemoryName> {
 protected:
  void SetUp() override {
    if (GetParam() == MemoryName::host) {
      ASSERT_EQ(HostMemory::missing(), std::nullopt);
      memory_ = std::make_shared<HostMemory>();
    } else {
      if (const auto missing = cuda_missing()) {
        GTEST_SKIP() << "skipped: " << *missing;
      }
      auto opened = open_cuda_memory(0);
      ASSERT_TRUE(opened.ok()) << opened.error();
      memory_ = *opened;
    }
    granule_ = memory_->granule_bytes();
    idle_ = memory_->used_bytes();
    saver_ = std::make_unique<MemorySaver>(memory_);
  }

  BufferId built(const std::string& name, std::int64_t bytes) const {
    Result<BufferId, SaverError> id = saver_->allocate(name, bytes);
    EXPECT_TRUE(id.ok()) << id.error().text;
    return id.ok() ? *id : 0;
  }
  BufferId built_in(const std::string& tag, const std::string& name, std::int64_t bytes, bool backed_up = false) const {
    const MemorySaver::Region region(*saver_, {tag, true, backed_up});
    return built(name, bytes);
  }
  [[nodiscard]] std::int64_t used() const { return memory_->used_bytes() - idle_; }
  [[nodiscard]] std::vector<std::byte> content(BufferId id) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(saver_->find(id)->bytes));
    const SaverFault fault = saver_->read(id, 0, bytes);
    EXPECT_FALSE(fault) << fault->text;
    return bytes;
  }
  static std::vector<std::byte> pattern(std::int64_t bytes) {
    std::vector<std::byte> all(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::byte>(i * 31 + 7);
    }
    return all;
  }
  static std::string text_of(const SaverFault& fault) { return fault ? fault->text : "no fault"; }
  [[nodiscard]] bool zero(BufferId id) const {
    const SavedBuffer& buffer = *saver_->find(id);
    return look_at(*memory_, buffer.address, buffer.bytes).value().zero;
  }

  std::shared_ptr<VirtualMemory> memory_;
  std::int64_t granule_ = 0;
  std::int64_t idle_ = 0;
  std::unique_ptr<MemorySaver> saver_;
};

TEST_P(Saver, ABufferTakesWholeGranulesAndReadsZero) {
  const BufferId id = built_in("kv_cache", "k", granule_ + 1);
  EXPECT_EQ(used(), 2 * granule_);
  EXPECT_EQ(saver_->find(id)->mapped_bytes, 2 * granule_);
  EXPECT_EQ(saver_->find(id)->tag, "kv_cache");
  EXPECT_TRUE(zero(id));
}

TEST_P(Saver, PauseGivesMemoryBackAndResumeBringsItToTheSameAddress) {
  const BufferId id = built_in("kv_cache", "k", 3 * granule_ - 5);
  const Address address = saver_->find(id)->address;
  ASSERT_FALSE(saver_->write(id, 0, pattern(3 * granule_ - 5)));
  ASSERT_FALSE(saver_->pause("kv_cache"));
  EXPECT_EQ(used(), 0);
  EXPECT_TRUE(saver_->find(id)->paused);
  ASSERT_FALSE(saver_->resume("kv_cache"));
  EXPECT_EQ(used(), 3 * granule_);
  EXPECT_EQ(saver_->find(id)->address, address);
  EXPECT_TRUE(zero(id));
  ASSERT_FALSE(saver_->write(id, 0, pattern(3 * granule_ - 5)));
  EXPECT_EQ(content(id), pattern(3 * granule_ - 5));
}

TEST_P(Saver, WhatIsBackedUpComesBackToTheLastByte) {
  const std::int64_t bytes = 2 * granule_ + granule_ / 2 + 3;
  const BufferId id = built_in("weights", "w", bytes, true);
  ASSERT_FALSE(saver_->write(id, 0, pattern(bytes)));
  for (int cycle = 0; cycle < 3; ++cycle) {
    ASSERT_FALSE(saver_->pause("weights"));
    EXPECT_EQ(used(), 0);
    ASSERT_FALSE(saver_->resume("weights"));
    ASSERT_EQ(content(id), pattern(bytes)) << "cycle " << cycle;
  }
}

TEST_P(Saver, OneTagLeavesTheOthersAlone) {
  const BufferId kv = built_in("kv_cache", "k", granule_);
  const BufferId weights = built_in("weights", "w", 2 * granule_);
  ASSERT_FALSE(saver_->write(weights, 0, pattern(2 * granule_)));
  ASSERT_FALSE(saver_->pause("kv_cache"));
  EXPECT_EQ(used(), 2 * granule_);
  EXPECT_FALSE(saver_->find(weights)->paused);
  EXPECT_EQ(content(weights), pattern(2 * granule_));
  ASSERT_FALSE(saver_->resume("kv_cache"));
  ASSERT_FALSE(saver_->pause());
  EXPECT_EQ(used(), 0);
  EXPECT_TRUE(saver_->find(kv)->paused);
  ASSERT_FALSE(saver_->resume());
  EXPECT_EQ(used(), 3 * granule_);
}

TEST_P(Saver, TheInnermostRegionCounts) {
  const MemorySaver::Region outer(*saver_, {"weights", true, false});
  BufferId inner_id = 0;
  {
    const MemorySaver::Region inner(*saver_, {"kv_cache", true, true});
    inner_id = built("inner", granule_);
  }
  const BufferId outer_id = built("outer", granule_);
  EXPECT_EQ(saver_->find(inner_id)->tag, "kv_cache");
  EXPECT_TRUE(saver_->find(inner_id)->backed_up);
  EXPECT_EQ(saver_->find(outer_id)->tag, "weights");
  EXPECT_FALSE(saver_->find(outer_id)->backed_up);
}

TEST_P(Saver, OutsideOfARegionOrInOneThatIsOffABufferStaysResident) {
  const BufferId outside = built("outside", 4 * granule_);
  BufferId off = 0;
  {
    const MemorySaver::Region region(*saver_, {"kv_cache", false, false});
    off = built("off", 4 * granule_);
  }
  built_in("kv_cache", "in", granule_);
  const std::int64_t before = used();
  ASSERT_FALSE(saver_->pause());
  EXPECT_EQ(before - used(), granule_);
  EXPECT_FALSE(saver_->find(outside)->paused);
  EXPECT_FALSE(saver_->find(off)->in_region());
  EXPECT_TRUE(zero(outside));
}

TEST_P(Saver, ASaverThatIsOffDoesNothing) {
  saver_ = std::make_unique<MemorySaver>(memory_, false);
  const BufferId id = built_in("kv_cache", "k", granule_);
  ASSERT_FALSE(saver_->write(id, 0, pattern(granule_)));
  EXPECT_FALSE(saver_->pause("kv_cache"));
  EXPECT_FALSE(saver_->pause("kv_cache"));
  EXPECT_FALSE(saver_->resume("nonsense"));
  EXPECT_EQ(content(id), pattern(granule_));
}

TEST_P(Saver, PausingWhatIsPausedNamesTheBufferAndChangesNothing) {
  built_in("kv_cache", "full.k.0", granule_);
  const BufferId weights = built_in("weights", "weights", granule_);
  ASSERT_FALSE(saver_->pause("kv_cache"));
  for (const auto& tag : {std::optional<std::string_view>("kv_cache"), std::optional<std::string_view>()}) {
    const SaverFault fault = saver_->pause(tag);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, SaverErrorKind::already_paused);
    EXPECT_EQ(fault->text,
              "pausing full.k.0 (tag 'kv_cache', " + std::to_string(granule_) + " bytes), which is paused");
  }
  EXPECT_FALSE(saver_->find(weights)->paused);
  EXPECT_EQ(used(), granule_);
}

TEST_P(Saver, ResumingWhatIsResidentNamesTheBufferAndChangesNothing) {
  const BufferId kv = built_in("kv_cache", "full.k.0", granule_);
  built_in("weights", "weights", granule_);
  ASSERT_FALSE(saver_->pause("kv_cache"));
  const SaverFault fault = saver_->resume();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, SaverErrorKind::not_paused);
  EXPECT_EQ(fault->text,
            "resuming weights (tag 'weights', " + std::to_string(granule_) + " bytes), which is not paused");
  EXPECT_TRUE(saver_->find(kv)->paused);
}

TEST_P(Saver, TouchingPausedMemoryIsAnErrorThatNamesTheBuffer) {
  const BufferId id = built_in("kv_cache", "swa.v.7", granule_);
  ASSERT_FALSE(saver_->pause("kv_cache"));
  std::vector<std::byte> bytes(8);
  std::vector<Stamp> stamps(2);
  const std::string named = " swa.v.7 (tag 'kv_cache', " + std::to_string(granule_) + " bytes), which is paused";
  for (const SaverFault& fault : {saver_->read(id, 0, bytes), saver_->read_stamps(id, 0, 16, stamps)}) {
    EXPECT_EQ(text_of(fault), "reading" + named);
    EXPECT_EQ(fault->kind, SaverErrorKind::touched_paused);
  }
  for (const SaverFault& fault : {saver_->write(id, 0, bytes), saver_->write_stamps(id, 0, 16, stamps)}) {
    EXPECT_EQ(text_of(fault), "writing" + named);
  }
}

TEST_P(Saver, TouchingBytesOutsideOfABufferIsAnError) {
  const BufferId id = built_in("kv_cache", "k", 100);
  std::vector<std::byte> bytes(8);
  EXPECT_FALSE(saver_->write(id, 92, bytes));
  EXPECT_EQ(text_of(saver_->write(id, 93, bytes)),
            "writing k (tag 'kv_cache', 100 bytes): bytes 93 to 101 are outside of it");
  EXPECT_EQ(text_of(saver_->read(id, -1, bytes)),
            "reading k (tag 'kv_cache', 100 bytes): bytes -1 to 7 are outside of it");
  const std::vector<Stamp> stamps(3);
  EXPECT_FALSE(saver_->write_stamps(id, 12, 40, stamps));
  EXPECT_EQ(saver_->write_stamps(id, 13, 40, stamps)->kind, SaverErrorKind::out_of_range);
}

TEST_P(Saver, AnUnknownTagOrBufferIsAnError) {
  built_in("kv_cache", "k", granule_);
  for (const SaverFault& fault : {saver_->pause("kv_cach"), saver_->resume("kv_cach")}) {
    EXPECT_EQ(text_of(fault), "no buffer was allocated in a region of tag 'kv_cach'");
    EXPECT_EQ(fault->kind, SaverErrorKind::unknown_tag);
  }
  std::vector<std::byte> bytes(1);
  EXPECT_EQ(text_of(saver_->read(99, 0, bytes)), "reading buffer 99, which is not in the ledger");
  EXPECT_EQ(text_of(saver_->free(99)), "freeing buffer 99, which is not in the ledger");
}

TEST_P(Saver, FreeingGivesAllBackPausedOrNot) {
  const BufferId resident = built_in("kv_cache", "a", granule_);
  const BufferId paused = built_in("weights", "b", granule_, true);
  const BufferId outside = built("c", 4 * granule_);
  ASSERT_FALSE(saver_->pause("weights"));
  for (const BufferId id : {resident, paused, outside}) {
    EXPECT_FALSE(saver_->free(id));
    EXPECT_EQ(saver_->find(id), nullptr);
  }
  EXPECT_EQ(used(), 0);
  built_in("kv_cache", "d", granule_);
  built_in("weights", "e", granule_);
  ASSERT_FALSE(saver_->pause("weights"));
  saver_.reset();
  EXPECT_EQ(used(), 0);
}

TEST_P(Saver, StampsLieAStrideApart) {
  const BufferId id = built_in("kv_cache", "k", 64 * 10);
  std::vector<Stamp> stamps(7);
  std::iota(stamps.begin(), stamps.end(), Stamp{1} << 40U);
  ASSERT_FALSE(saver_->write_stamps(id, 64 * 2, 64, stamps));
  std::vector<Stamp> read(10);
  ASSERT_FALSE(saver_->read_stamps(id, 0, 64, read));
  std::vector<Stamp> expected(10);
  std::copy(stamps.begin(), stamps.end(), expected.begin() + 2);
  EXPECT_EQ(read, expected);
}

TEST_P(Saver, ContentIsToldApartByASingleByte) {
  const BufferId id = built_in("kv_cache", "k", 2 * granule_ + 11);
  const SavedBuffer buffer = *saver_->find(id);
  const auto look = [&] { return look_at(*memory_, buffer.address, buffer.bytes).value(); };
  const Content fresh = look();
  EXPECT_TRUE(fresh.zero);
  const std::vector<std::byte> one{std::byte{1}};
  ASSERT_FALSE(saver_->write(id, buffer.bytes - 1, one));
  EXPECT_FALSE(look().zero);
  EXPECT_NE(look().digest, fresh.digest);
  const std::uint64_t at_the_end = look().digest;
  ASSERT_FALSE(saver_->write(id, buffer.bytes - 1, std::vector<std::byte>{std::byte{0}}));
  EXPECT_EQ(look().digest, fresh.digest);
  ASSERT_FALSE(saver_->write(id, 0, one));
  EXPECT_NE(look().digest, at_the_end);
}

INSTANTIATE_TEST_SUITE_P(All, Saver, testing::Values(MemoryName::host, MemoryName::cuda), name_of);

// ---- a device that is full: the host's memory with little room stands for one

class FullDevice : public testing::Test {
 protected:
  void SetUp() override {
    page_ = HostMemory().granule_bytes();
    memory_ = std::make_shared<HostMemory>(8 * page_);
    saver_ = std::make_unique<MemorySaver>(memory_);
  }
  BufferId built_in(const std::string& tag, const std::string& name, std::int64_t pages) {
    const MemorySaver::Region region(*saver_, {tag, true, true});
    return saver_->allocate(name, pages * page_).value();
  }

  std::int64_t page_ = 0;
  std::shared_ptr<HostMemory> memory_;
  std::unique_ptr<MemorySaver> saver_;
};

TEST_F(FullDevice, AResumeWithoutRoomLeavesAllPausedAndALaterOneWorks) {
  const BufferId a = built_in("kv_cache", "a", 2);
  const BufferId b = built_in("kv_cache", "b", 4);
  const std::vector<std::byte> content(static_cast<std::size_t>(4 * page_), std::byte{7});
  ASSERT_FALSE(saver_->write(b, 0, content));
  ASSERT_FALSE(saver_->pause("kv_cache"));
  const BufferId trainer = built_in("trainer", "t", 5);
  const SaverFault fault = saver_->resume("kv_cache");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, SaverErrorKind::out_of_memory);
  EXPECT_EQ(fault->text, "resuming b (tag 'kv_cache', " + std::to_string(4 * page_) +
                             " bytes): out of memory: " + std::to_string(4 * page_) + " bytes asked for, " +
                             std::to_string(page_) + " left; everything that was paused stays paused");
  EXPECT_TRUE(saver_->find(a)->paused);
  EXPECT_TRUE(saver_->find(b)->paused);
  EXPECT_EQ(memory_->used_bytes(), 5 * page_);
  ASSERT_FALSE(saver_->free(trainer));
  ASSERT_FALSE(saver_->resume("kv_cache"));
  std::vector<std::byte> read(content.size());
  ASSERT_FALSE(saver_->read(b, 0, read));
  EXPECT_EQ(read, content);
}

TEST_F(FullDevice, AnAllocationWithoutRoomLeavesNothingBehind) {
  built_in("kv_cache", "a", 6);
  const MemorySaver::Region region(*saver_, {"kv_cache", true, false});
  const auto refused = saver_->allocate("b", 3 * page_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, SaverErrorKind::out_of_memory);
  EXPECT_EQ(saver_->ledger().size(), 1U);
  EXPECT_EQ(memory_->used_bytes(), 6 * page_);
  EXPECT_TRUE(saver_->allocate("c", 2 * page_).ok());
}

TEST_F(FullDevice, AnOrdinaryAllocationIsBoundedToo) {
  const auto refused = saver_->allocate("a", 9 * page_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text, "allocating a (in no region, " + std::to_string(9 * page_) +
                                      " bytes): out of memory: " + std::to_string(9 * page_) + " bytes asked for, " +
                                      std::to_string(8 * page_) + " left");
  EXPECT_TRUE(saver_->allocate("b", 8 * page_).ok());
}

// What the kernel counts is what is there, whatever our books say.
TEST(HostMemory, HiddenMemoryStaysResidentUntilItIsReleased) {
  HostMemory memory;
  const std::int64_t bytes = 16 * memory.granule_bytes();
  const Address address = memory.reserve(bytes).value();
  EXPECT_EQ(memory.resident_bytes(address, bytes), 0);
  const MemoryHandle handle = memory.create(bytes).value();
  ASSERT_FALSE(memory.map(address, bytes, handle));
  EXPECT_EQ(memory.resident_bytes(address, bytes), bytes);
  ASSERT_FALSE(memory.unmap(address, bytes));
  EXPECT_EQ(memory.used_bytes(), bytes);
  ASSERT_FALSE(memory.release(handle));
  EXPECT_EQ(memory.used_bytes(), 0);
  memory.unreserve(address, bytes);
}

}  // namespace
}  // namespace poolproof
