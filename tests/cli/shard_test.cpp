// Who says which shard this is: the option, GoogleTest, Slurm; what half of them is worth.
#include "cli/shard.hpp"

#include <gtest/gtest.h>

#include <map>

namespace poolproof::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Shard, Complaint> shard(const std::string& option, const Variables& variables) {
  return shard_of(option, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

Variables slurm(const std::string& id, const std::string& first, const std::string& count) {
  return {{"SLURM_ARRAY_TASK_ID", id}, {"SLURM_ARRAY_TASK_MIN", first}, {"SLURM_ARRAY_TASK_COUNT", count}};
}

void expect_shard(const Result<Shard, Complaint>& got, std::uint32_t index, std::uint32_t count) {
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->index, index);
  EXPECT_EQ(got->count, count);
}

void expect_complaint(const Result<Shard, Complaint>& got, const std::string& part) {
  ASSERT_FALSE(got.ok()) << part;
  EXPECT_EQ(got.error().status, exit_usage);
  EXPECT_NE(got.error().message.find(part), std::string::npos) << got.error().message;
}

TEST(Shard, IsTheWholeWhenNobodySaysOtherwise) {
  expect_shard(shard("", {}), 0, 1);
  EXPECT_EQ(shard_text(*shard("", {})), "");
  expect_shard(shard("", {{"GTEST_SHARD_INDEX", ""}, {"SLURM_ARRAY_TASK_ID", ""}}), 0, 1);
}

TEST(Shard, OfTheOption) {
  expect_shard(shard("2/3", {{"GTEST_SHARD_INDEX", "nonsense"}, {"SLURM_ARRAY_TASK_ID", "x"}}), 2, 3);
  EXPECT_EQ(shard_text(*shard("0/1", {})), "shard 0/1 (--shard)");
  for (const std::string bad : {"3/3", "1", "/", "0/0", "-1/2", "a/b", "1/2/3", "1/", "/2", " 1/2"}) {
    expect_complaint(shard(bad, {}), "--shard " + bad + " is no shard");
  }
}

TEST(Shard, OfGoogleTest) {
  expect_shard(shard("", {{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "4"}}), 1, 4);
  expect_complaint(shard("", {{"GTEST_SHARD_INDEX", "1"}}), "GTEST_SHARD_INDEX=1 of GTEST_TOTAL_SHARDS= is no shard");
  expect_complaint(shard("", {{"GTEST_TOTAL_SHARDS", "4"}}), "GTEST_SHARD_INDEX= of GTEST_TOTAL_SHARDS=4 is no shard");
  expect_complaint(shard("", {{"GTEST_SHARD_INDEX", "4"}, {"GTEST_TOTAL_SHARDS", "4"}}), "is no shard");
  expect_complaint(shard("", {{"GTEST_SHARD_INDEX", "one"}, {"GTEST_TOTAL_SHARDS", "4"}}), "GTEST_SHARD_INDEX=one");
}

TEST(Shard, OfASlurmArrayWhereverItStarts) {
  expect_shard(shard("", slurm("0", "0", "4")), 0, 4);
  expect_shard(shard("", slurm("1", "1", "4")), 0, 4);
  expect_shard(shard("", slurm("13", "10", "4")), 3, 4);
  Variables stepped = slurm("11", "3", "5");
  stepped["SLURM_ARRAY_TASK_STEP"] = "4";
  expect_shard(shard("", stepped), 2, 5);
}

TEST(Shard, OfASlurmArrayThatIsNone) {
  expect_complaint(shard("", {{"SLURM_ARRAY_TASK_ID", "1"}}), "SLURM_ARRAY_TASK_COUNT=");
  expect_complaint(shard("", {{"SLURM_ARRAY_TASK_COUNT", "4"}}), "SLURM_ARRAY_TASK_ID=");
  expect_complaint(shard("", slurm("0", "1", "4")), "--shard I/N");
  expect_complaint(shard("", slurm("5", "1", "4")), "--shard I/N");
  expect_complaint(shard("", slurm("one", "1", "4")), "SLURM_ARRAY_TASK_ID=one");
  Variables ragged = slurm("4", "1", "3");
  ragged["SLURM_ARRAY_TASK_STEP"] = "2";
  expect_complaint(shard("", ragged), "SLURM_ARRAY_TASK_STEP=2");
  ragged["SLURM_ARRAY_TASK_STEP"] = "0";
  expect_complaint(shard("", ragged), "SLURM_ARRAY_TASK_STEP=0");
}

TEST(Shard, GoogleTestComesBeforeSlurm) {
  Variables both = slurm("3", "1", "8");
  both["GTEST_SHARD_INDEX"] = "1";
  both["GTEST_TOTAL_SHARDS"] = "2";
  const auto got = shard("", both);
  expect_shard(got, 1, 2);
  EXPECT_EQ(shard_text(*got), "shard 1/2 (GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS)");
}

}  // namespace
}  // namespace poolproof::cli
