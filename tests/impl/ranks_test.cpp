// Replicas as one allocator: each way in which one can differ from the first is told, with the call and both sides.
#include "impl/ranks.hpp"

#include <gtest/gtest.h>

#include "impl/host/host.hpp"

namespace poolproof {
namespace {

enum class Odd {
  nothing,
  answer,
  loc,
  count,
  slot,
  translation,
  full_stamp,
  swa_stamp,
  counter,
  order,
  staged,
  deferred,
  mapping,
  slots
};

/// The hybrid twin with one thing that is not as in the others, from the start or once it freed.
class OddAllocator final : public HybridAllocator {
 public:
  OddAllocator(const Geometry& geometry, Odd odd) : HybridAllocator(geometry), odd_(odd) {}
  [[nodiscard]] std::unique_ptr<Allocator> clone() const override { return std::make_unique<OddAllocator>(*this); }

  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override {
    const Answer answer = HybridAllocator::alloc_extend(prefix_lens, seq_lens, last_locs, out);
    if (odd_ == Odd::loc) {
      out[2] = 30;
    } else if (odd_ == Odd::count) {
      out.pop_back();
    }
    return odd_ == Odd::answer ? Answer::refused : answer;
  }
  Answer free(Side side, std::span<const Loc> locs) override {
    freed_ = true;
    return HybridAllocator::free(side, locs);
  }
  Answer take_slot(std::int64_t& slot) override {
    const Answer answer = HybridAllocator::take_slot(slot);
    slot += odd_ == Odd::slot ? 1 : 0;
    return answer;
  }
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override {
    const Answer answer = HybridAllocator::translate_loc_from_full_to_swa(full, out);
    out[1] += odd_ == Odd::translation ? 8 : 0;
    return answer;
  }
  Answer read_full(std::span<const Loc> locs, std::span<Stamp> out) override {
    const Answer answer = HybridAllocator::read_full(locs, out);
    out[0] += odd_ == Odd::full_stamp ? 1U : 0U;
    return answer;
  }
  Answer read_swa(std::span<const Loc> locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override {
    const Answer answer = HybridAllocator::read_swa(locs, slot, first_pos, out);
    out[0] += odd_ == Odd::swa_stamp ? 1U : 0U;
    return answer;
  }
  Answer gauges(Gauges& out) override {
    const Answer answer = HybridAllocator::gauges(out);
    out.swa_available -= odd_ == Odd::counter && freed_ ? 4 : 0;
    return answer;
  }
  Answer census(Census& out) override {
    const Answer answer = HybridAllocator::census(out);
    if (odd_ == Odd::order && freed_) {
      std::swap(out.full.free[0], out.full.free[1]);
    } else if (odd_ == Odd::staged && freed_) {
      out.swa.staged.push_back(3);
    } else if (odd_ == Odd::deferred && freed_) {
      out.full.deferred.push_back(3);
    } else if (odd_ == Odd::mapping && freed_) {
      mapping_.assign(out.mapping.begin(), out.mapping.end());
      mapping_[5] = 9;
      out.mapping = mapping_;
    } else if (odd_ == Odd::slots && freed_) {
      out.free_slots.push_back(2);
    }
    return answer;
  }

 private:
  Odd odd_;
  bool freed_ = false;
  Locs mapping_;
};

Geometry hybrid() {
  return {.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 32, .window = 4, .reqs = 2, .need_sort = false};
}

std::unique_ptr<RankedAllocator> ranked(Odd odd, std::uint32_t which = 1, std::uint32_t count = 3) {
  std::vector<std::unique_ptr<Allocator>> ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    ranks.push_back(std::make_unique<OddAllocator>(hybrid(), rank == which ? odd : Odd::nothing));
  }
  return std::make_unique<RankedAllocator>(std::move(ranks), hybrid());
}

/// Makes calls as a run does until one fails; answers whether all were served.
bool drive(Allocator& allocator) {
  const auto op_ends = [&] {
    Gauges gauges;
    return allocator.gauges(gauges) == Answer::served;
  };
  std::int64_t slot = -1;
  Locs locs;
  Locs peers(6);
  const std::vector<Pos> prefix{0};
  const std::vector<Pos> seq{6};
  const std::vector<Loc> last{-1};
  const std::vector<Stamp> stamps{11, 12, 13, 14, 15, 16};
  std::vector<Stamp> read(6);
  return op_ends() && allocator.take_slot(slot) == Answer::served && op_ends() &&
         allocator.alloc_extend(prefix, seq, last, locs) == Answer::served &&
         allocator.translate_loc_from_full_to_swa(locs, peers) == Answer::served && op_ends() &&
         allocator.write_full(locs, stamps) == Answer::served &&
         allocator.write_swa(locs, slot, 0, stamps) == Answer::served && op_ends() &&
         allocator.read_full(locs, read) == Answer::served &&
         allocator.read_swa(locs, slot, 0, read) == Answer::served && op_ends() &&
         allocator.free(Side::both, locs) == Answer::served && op_ends();
}

TEST(Ranks, ThatAgreeAnswerAsOne) {
  const auto three = ranked(Odd::nothing);
  EXPECT_TRUE(drive(*three)) << three->failure();
  EXPECT_FALSE(three->disagreement());
  Census census;
  EXPECT_EQ(three->census(census), Answer::served);
  EXPECT_EQ(census.full.free.size(), 8U);
  EXPECT_EQ(three->foresight(), nullptr);
}

struct Case {
  const char* name;
  Odd odd;
  const char* call;
  const char* what;
  const char* expected;
  const char* seen;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class RankDiffers : public testing::TestWithParam<Case> {};

TEST_P(RankDiffers, AndIsTold) {
  for (const std::uint32_t which : {1U, 2U}) {
    const auto three = ranked(GetParam().odd, which);
    EXPECT_FALSE(drive(*three));
    const std::optional<Disagreement> told = three->disagreement();
    ASSERT_TRUE(told) << three->failure();
    const std::string rank = "rank " + std::to_string(which);
    EXPECT_EQ(told->rank, which);
    EXPECT_EQ(told->call, GetParam().call);
    std::string what = GetParam().what;
    what.replace(what.find("rank K"), 6, rank);
    EXPECT_EQ(told->what, what + ", and both were fed the same calls");
    EXPECT_EQ(told->expected, std::string("rank 0: ") + GetParam().expected);
    EXPECT_EQ(told->seen, rank + ": " + GetParam().seen);
    EXPECT_EQ(three->failure(), told->what);
    EXPECT_FALSE(three->breakdown());
    Gauges gauges;
    EXPECT_EQ(three->gauges(gauges), Answer::failed) << "nothing is said after that";
    EXPECT_EQ(three->clear(), Answer::failed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, RankDiffers,
    testing::Values(
        Case{"Answer", Odd::answer, "alloc_extend", "rank K answers alloc_extend otherwise than rank 0", "served",
             "refused"},
        Case{"Loc", Odd::loc, "alloc_extend", "rank K answers alloc_extend otherwise than rank 0",
             "locs[2] is 6 (of 6)", "locs[2] is 30 (of 6)"},
        Case{"Count", Odd::count, "alloc_extend", "rank K answers alloc_extend otherwise than rank 0",
             "locs[5] is 9 (of 6)", "there are 5 locs"},
        Case{"Slot", Odd::slot, "take_slot", "rank K answers take_slot otherwise than rank 0", "slot 1", "slot 2"},
        Case{"Translation", Odd::translation, "translate", "rank K answers translate otherwise than rank 0",
             "locs[1] is 5 (of 6)", "locs[1] is 13 (of 6)"},
        Case{"FullStamp", Odd::full_stamp, "read_full", "rank K answers read_full otherwise than rank 0",
             "stamps[0] is 11 (of 6)", "stamps[0] is 12 (of 6)"},
        Case{"SwaStamp", Odd::swa_stamp, "read_swa", "rank K answers read_swa otherwise than rank 0",
             "stamps[0] is 11 (of 6)", "stamps[0] is 12 (of 6)"},
        Case{"Counter", Odd::counter, "free", "after free, swa_available of rank K is not that of rank 0", "32", "28"},
        Case{"Order", Odd::order, "free", "after free, the free list of the full pool of rank K is not that of rank 0",
             "pages[0] is 1 (of 8)", "pages[0] is 2 (of 8)"},
        Case{"Staged", Odd::staged, "free",
             "after free, the staged list of the SWA pool of rank K is not that of rank 0", "there are 0 pages",
             "pages[0] is 3 (of 1)"},
        Case{"Deferred", Odd::deferred, "free",
             "after free, the deferred list of the full pool of rank K is not that of rank 0", "there are 0 pages",
             "pages[0] is 3 (of 1)"},
        Case{"Mapping", Odd::mapping, "free", "after free, the mapping of rank K is not that of rank 0",
             "mapping[5] is 0 (of 37)", "mapping[5] is 9 (of 37)"},
        Case{"FreeSlots", Odd::slots, "free",
             "after free, the list of free request slots of rank K is not that of rank 0", "there are 1 slots",
             "slots[1] is 2 (of 2)"}),
    [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

TEST(Ranks, TheFirstOneThatDiffersCountsNotTheMost) {
  // Rank 0 is the odd one: rank 1 is what is told.
  const auto three = ranked(Odd::slot, 0);
  EXPECT_FALSE(drive(*three));
  ASSERT_TRUE(three->disagreement());
  EXPECT_EQ(three->disagreement()->rank, 1U);
  EXPECT_EQ(three->disagreement()->expected, "rank 0: slot 2");
}

TEST(Ranks, ACopyGoesOnByItself) {
  const auto two = ranked(Odd::order, 1, 2);
  const std::unique_ptr<Allocator> copy = two->clone();
  ASSERT_NE(copy, nullptr);
  EXPECT_FALSE(drive(*copy));
  EXPECT_TRUE(copy->disagreement());
  EXPECT_FALSE(two->disagreement());
  EXPECT_TRUE(copy->clone()->disagreement()) << "it remembers what went wrong";
}

/// A large token pool that shows another order of its list.
class Shuffled final : public SingleAllocator {
 public:
  using SingleAllocator::SingleAllocator;
  Answer census(Census& out) override {
    const Answer answer = SingleAllocator::census(out);
    std::swap(out.full.free.front(), out.full.free.back());
    return answer;
  }
};

TEST(Ranks, LargePoolsAreComparedAtTheCensusAlone) {
  for (const Tokens tokens : {RankedAllocator::large_pool_tokens, RankedAllocator::large_pool_tokens + 1}) {
    const Geometry g{.layout = Layout::token, .page = 1, .full = tokens};
    std::vector<std::unique_ptr<Allocator>> ranks;
    ranks.push_back(std::make_unique<SingleAllocator>(g));
    ranks.push_back(std::make_unique<Shuffled>(g));
    RankedAllocator two(std::move(ranks), g);
    Gauges gauges;
    EXPECT_EQ(two.gauges(gauges), tokens == RankedAllocator::large_pool_tokens ? Answer::failed : Answer::served);
    Census census;
    EXPECT_EQ(two.census(census), Answer::failed);
    ASSERT_TRUE(two.disagreement());
    EXPECT_EQ(two.disagreement()->call, "construction");
  }
}

/// Breaks down over its first free, for good.
class Broken final : public SingleAllocator {
 public:
  using SingleAllocator::SingleAllocator;
  Answer free(Side /*side*/, std::span<const Loc> /*locs*/) override { return Answer::failed; }
  [[nodiscard]] std::string failure() const override { return "it is broken"; }
  [[nodiscard]] std::optional<Breakdown> breakdown() const override {
    return Breakdown{BreakdownKind::raised, "Broken"};
  }
  [[nodiscard]] bool beyond_repair() const override { return true; }
};

TEST(Ranks, OneThatBreaksDownIsNoDisagreement) {
  const Geometry g{.layout = Layout::token, .page = 1, .full = 8};
  std::vector<std::unique_ptr<Allocator>> ranks;
  ranks.push_back(std::make_unique<SingleAllocator>(g));
  ranks.push_back(std::make_unique<Broken>(g));
  RankedAllocator two(std::move(ranks), g);
  Locs locs;
  ASSERT_EQ(two.alloc(3, locs), Answer::served);
  EXPECT_EQ(two.free(Side::both, locs), Answer::failed);
  EXPECT_EQ(two.failure(), "rank 1: it is broken");
  EXPECT_EQ(two.breakdown(), (Breakdown{BreakdownKind::raised, "Broken"}));
  EXPECT_TRUE(two.beyond_repair());
  EXPECT_FALSE(two.disagreement());
}

TEST(WithRanks, BuildsEachRankAndNamesTheOneThatCannotBe) {
  std::vector<std::uint32_t> built;
  ImplInfo info = *find_impl("host");
  info.make_rank = [&built](const Geometry& g, std::uint32_t rank) -> Result<std::unique_ptr<Allocator>, std::string> {
    built.push_back(rank);
    return rank < 3 ? make_host(g) : Result<std::unique_ptr<Allocator>, std::string>(std::string("no such device"));
  };
  const ImplInfo three = with_ranks(info, 3);
  EXPECT_EQ(three.name, "host");
  EXPECT_EQ(three.ranks, 3U);
  EXPECT_TRUE(three.make(hybrid()).ok());
  EXPECT_EQ(built, (std::vector<std::uint32_t>{0, 1, 2}));
  const auto four = with_ranks(info, 4).make(hybrid());
  ASSERT_FALSE(four.ok());
  EXPECT_EQ(four.error(), "rank 3: no such device");
}

TEST(WithRanks, OneIsTheEntryItselfAndAMutantGetsWhatItTakes) {
  EXPECT_EQ(with_ranks(*find_impl("host"), 1).ranks, 1U);
  EXPECT_EQ(with_ranks(*find_impl("order-of-arrival"), 1).ranks, 2U);
  EXPECT_EQ(with_ranks(*find_impl("order-of-arrival"), 5).ranks, 5U);
  const auto one = with_ranks(*find_impl("host"), 1).make(hybrid());
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(dynamic_cast<const RankedAllocator*>(one->get()), nullptr);
}

}  // namespace
}  // namespace poolproof
