// Mutations keep the shape of inputs, stay within their limit, and come out the same for the same seed.
#include "fuzz/input/mutate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "fuzz/input/ops_runner.hpp"

namespace poolproof {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Marks what came from it.
std::size_t all_sevens(std::uint8_t* data, std::size_t size, std::size_t most) {
  const std::size_t grown = std::min(size + 1, most);
  std::fill_n(data, grown, std::uint8_t{7});
  return grown;
}

bool from_bytes(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 7; });
}

TEST(Mutate, OpsKeepTheirShape) {
  for (const std::uint8_t form : {std::uint8_t{0}, std::uint8_t{1}}) {
    Bytes input(ops_header_bytes + 80, 3);
    input[0] = form;
    std::set<Bytes> seen;
    std::size_t by_bytes = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const Bytes mutated = mutate_ops(input, 120, seed, all_sevens);
      EXPECT_EQ(mutated, mutate_ops(input, 120, seed, all_sevens));
      EXPECT_LE(mutated.size(), 120U);
      if (from_bytes(mutated)) {
        ++by_bytes;
        continue;
      }
      EXPECT_EQ(mutated[0], form);
      EXPECT_EQ((mutated.size() - ops_header_bytes) % (form == 0 ? 8 : 2), 0U);
      seen.insert(mutated);
    }
    EXPECT_GT(by_bytes, 300U);
    EXPECT_GT(seen.size(), 700U);
  }
}

TEST(Mutate, NothingAndTooLittleRoomAreInputsToo) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_LE(mutate_ops({}, 64, seed, all_sevens).size(), 64U);
    EXPECT_LE(mutate_ops(Bytes(40, 1), 1, seed, all_sevens).size(), 1U);
    EXPECT_LE(mutate_lines({}, 64, seed, all_sevens).size(), 64U);
    EXPECT_LE(splice_ops(Bytes(40, 0), Bytes(40, 0), 1, seed).size(), 1U);
    EXPECT_LE(splice_lines({}, {}, 64, seed).size(), 64U);
  }
}

TEST(Mutate, SplicingTakesAHeadAndATail) {
  Bytes one(ops_header_bytes + 32, 1);
  Bytes other(ops_header_bytes + 32, 2);
  one[0] = other[0] = 0;
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Bytes both = splice_ops(one, other, 200, seed);
    EXPECT_EQ(both[1], 1);
    EXPECT_TRUE(std::is_sorted(both.begin() + 1, both.end()));
    EXPECT_EQ(both.size() % 8, 2U);
    sizes.insert(both.size());
  }
  EXPECT_EQ(sizes.size(), 9U);
  other[0] = 1;  // choices: nothing to splice
  EXPECT_EQ(splice_ops(one, other, 200, 1), one);
}

TEST(Mutate, LinesStayWhole) {
  const std::string text = "poolproof 1\npool layout=token full=8\nextend r0 0..4\nfree r0 0..4\n";
  const Bytes input(text.begin(), text.end());
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Bytes mutated = mutate_lines(input, 300, seed, all_sevens);
    if (from_bytes(mutated)) {
      continue;
    }
    ++moved;
    std::string rest(mutated.begin(), mutated.end());
    while (!rest.empty()) {
      const std::string line = rest.substr(0, rest.find('\n') + 1);
      EXPECT_NE(text.find(line), std::string::npos) << line;
      rest.erase(0, line.size());
    }
  }
  EXPECT_GT(moved, 50U);
}

}  // namespace
}  // namespace poolproof
