// Records say every op that a small trace may have, and any bytes are records.
#include "fuzz/input/op_records.hpp"

#include <gtest/gtest.h>

#include "fuzz/input/pool_kind.hpp"
#include "props/generator.hpp"

namespace poolproof {
namespace {

TEST(OpRecords, RoundTripOfGeneratedTraces) {
  std::size_t said = 0;
  for (const PoolKind kind : {PoolKind::token, PoolKind::paged, PoolKind::hybrid, PoolKind::ring, PoolKind::pure_swa}) {
    for (std::uint8_t number = 0; number < pool_variants; ++number) {
      const Geometry geometry = pool_variant(kind, number);
      ASSERT_EQ(geometry_fault(geometry).value_or(""), "");
      RandomChoices choices(1, number);
      for (const Op& op : generate(geometry, choices, 60).ops) {
        std::vector<std::uint8_t> bytes;
        if (!append_op(op, geometry, bytes)) {
          EXPECT_TRUE(bytes.empty());
          continue;
        }
        std::span<const std::uint8_t> rest = bytes;
        const std::optional<Op> again = take_op(rest, geometry);
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, op);
        EXPECT_TRUE(rest.empty());
        ++said;
      }
    }
  }
  EXPECT_GT(said, 10'000U);
}

TEST(OpRecords, WhatCannotBeSaidIsNot) {
  const Geometry g = pool_variant(PoolKind::hybrid, 0);
  std::vector<std::uint8_t> bytes;
  for (const Op& op : std::vector<Op>{op::Extend{{{16, {0, 4}}}}, op::Write{0, {0, 70'000}}, op::Backup{4},
                                      op::Tail{0, {0, 16}, {3, 16}}, op::Remap{0, {0, 4}, 1, 200},
                                      op::Resize{17 * 4, 8}, op::Expect{}, op::Flush{}}) {
    EXPECT_FALSE(append_op(op, g, bytes)) << op_word_name(word_of(op));
  }
  EXPECT_TRUE(bytes.empty());
}

TEST(OpRecords, AnyBytesAreOps) {
  const Geometry g = pool_variant(PoolKind::hybrid, 0);
  RandomChoices choices(7, 0);
  std::vector<std::uint8_t> bytes(8 * 4000 + 5);
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(choices.draw(256));
  }
  std::span<const std::uint8_t> rest = bytes;
  std::size_t ops = 0;
  while (take_op(rest, g)) {
    ++ops;
  }
  EXPECT_GT(ops, 1000U);
  EXPECT_LT(rest.size(), op_record_bytes);
}

}  // namespace
}  // namespace poolproof
