#include "props/choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace poolproof {
namespace {

std::vector<std::uint64_t> draws(Choices& choices, std::uint64_t bound, int count) {
  std::vector<std::uint64_t> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(choices.draw(bound));
  }
  return all;
}

TEST(RandomChoices, TheSameSeedAndStreamGiveTheSameDraws) {
  RandomChoices a(7, 3);
  RandomChoices b(7, 3);
  EXPECT_EQ(draws(a, 1000, 100), draws(b, 1000, 100));
}

TEST(RandomChoices, SeedsAndStreamsDiffer) {
  RandomChoices base(7, 3);
  RandomChoices other_seed(8, 3);
  RandomChoices other_stream(7, 4);
  RandomChoices swapped(3, 7);
  const auto expected = draws(base, 1U << 30U, 20);
  EXPECT_NE(draws(other_seed, 1U << 30U, 20), expected);
  EXPECT_NE(draws(other_stream, 1U << 30U, 20), expected);
  EXPECT_NE(draws(swapped, 1U << 30U, 20), expected);
}

// Seeds printed by old runs must stay good: these values are part of the contract.
TEST(RandomChoices, TheStreamIsPinned) {
  RandomChoices choices(1, 0);
  const std::vector<std::uint64_t> pinned = {655968, 287922, 426491, 22853};
  EXPECT_EQ(draws(choices, 1'000'000, 4), pinned);
}

TEST(RandomChoices, DrawsStayBelowTheBoundAndReachBothEnds) {
  RandomChoices choices(1, 0);
  for (const std::uint64_t bound : {1U, 2U, 3U, 7U}) {
    const auto all = draws(choices, bound, 500);
    EXPECT_EQ(*std::min_element(all.begin(), all.end()), 0U);
    EXPECT_EQ(*std::max_element(all.begin(), all.end()), bound - 1);
  }
}

TEST(RandomChoices, DrawsAreEven) {
  RandomChoices choices(5, 5);
  std::array<int, 16> counts{};
  for (int i = 0; i < 16000; ++i) {
    ++counts.at(choices.draw(16));
  }
  for (const int count : counts) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
}

TEST(RandomChoices, NeighbouringStreamsShareNothing) {
  // The first draw of neighbouring streams decides what each trace is about: it must not move in step.
  std::array<int, 8> counts{};
  for (std::uint64_t stream = 0; stream < 8000; ++stream) {
    ++counts.at(RandomChoices(1, stream).draw(8));
  }
  for (const int count : counts) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
}

TEST(TapeChoices, ReadsTheTapeThenAnswersZero) {
  TapeChoices tape({5, 12, 3});
  EXPECT_EQ(tape.draw(10), 5U);
  EXPECT_EQ(tape.draw(10), 2U);
  EXPECT_FALSE(tape.exhausted());
  EXPECT_EQ(tape.draw(4), 3U);
  EXPECT_TRUE(tape.exhausted());
  EXPECT_EQ(tape.draw(10), 0U);
}

TEST(Choices, BetweenAndOddsFollowTheDraw) {
  TapeChoices tape({0, 3, 4, 1, 2});
  EXPECT_EQ(tape.between(-2, 5), -2);
  EXPECT_EQ(tape.between(-2, 5), 1);
  EXPECT_EQ(tape.between(7, 7), 7);
  EXPECT_TRUE(tape.odds(2, 5));
  EXPECT_FALSE(tape.odds(2, 5));
}

}  // namespace
}  // namespace poolproof
