// Workload files: what each format says, what is wrong with a row and where, rows left out on demand.
#include "props/workload/workload_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace poolproof {
namespace {

const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string first_row = "2023-11-16 18:15:46.6805900,374,44\n";

struct ReadWorkload {
  std::vector<Request> requests;
  std::string error;
  std::uint64_t skipped = 0;
};

ReadWorkload read_all(const std::string& text, bool lenient = false) {
  WorkloadReader reader(lines_of(text), "w.csv", lenient);
  ReadWorkload read;
  for (;;) {
    Result<std::optional<Request>, TextError> next = reader.next();
    if (!next) {
      read.error = next.error().render();
      break;
    }
    if (!*next) {
      break;
    }
    read.requests.push_back(**std::move(next));
  }
  read.skipped = reader.skipped();
  return read;
}

TEST(AzureCsv, Rows) {
  const ReadWorkload read =
      read_all(header + first_row + "2023-11-16 18:15:50.9951690,396,109\r\n\n" + "2023-11-17 00:00:00,1,0\n");
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.requests.size(), 3U);
  EXPECT_EQ(read.requests[0].arrival_us, 0U);
  EXPECT_EQ(read.requests[0].input_tokens, 374);
  EXPECT_EQ(read.requests[0].output_tokens, 44);
  EXPECT_TRUE(read.requests[0].blocks.empty());
  EXPECT_EQ(read.requests[1].arrival_us, 4'314'579U);
  EXPECT_EQ(read.requests[2].arrival_us, 20'653'319'410U);  // 5:44:13.31941 to midnight
  EXPECT_EQ(read.requests[2].output_tokens, 0);
}

TEST(AzureCsv, TimesOf2024) {
  const ReadWorkload read = read_all(header + "2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10T00:00:01Z,1,1\n");
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.requests.size(), 2U);
  EXPECT_EQ(read.requests[1].arrival_us, 990'070U);
}

TEST(MooncakeJsonl, Rows) {
  const ReadWorkload read = read_all(
      "{\"timestamp\": 1000, \"input_length\": 1024, \"output_length\": 500, \"hash_ids\": [0, 7]}\n"
      "{\"timestamp\": 3500, \"input_length\": 513, \"output_length\": 2, \"hash_ids\": [0, 8], \"more\": null}\n");
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.requests.size(), 2U);
  EXPECT_EQ(read.requests[0].arrival_us, 0U);
  EXPECT_EQ(read.requests[0].blocks, (std::vector<std::uint64_t>{0, 7}));
  EXPECT_EQ(read.requests[1].arrival_us, 2'500'000U);
  EXPECT_EQ(read.requests[1].input_tokens, 513);
}

struct BadRow {
  std::string row;
  std::string where;
  std::string message;
};

class BadAzureRow : public testing::TestWithParam<BadRow> {};

TEST_P(BadAzureRow, IsAnErrorWithItsPlace) {
  const ReadWorkload read = read_all(header + first_row + GetParam().row + "\n" + first_row);
  EXPECT_EQ(read.requests.size(), 1U);
  EXPECT_TRUE(read.error.starts_with("w.csv:3:" + GetParam().where + ": ")) << read.error;
  EXPECT_NE(read.error.find(GetParam().message), std::string::npos) << read.error;
  EXPECT_NE(read.error.find("; expected "), std::string::npos) << read.error;
}

TEST_P(BadAzureRow, IsLeftOutOnDemand) {
  const ReadWorkload read = read_all(header + first_row + GetParam().row + "\n" + first_row, true);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.requests.size(), 2U);
  EXPECT_EQ(read.skipped, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadAzureRow,
    testing::Values(BadRow{"yesterday,1,1", "1", "stands no time"}, BadRow{"2023-13-16 18:15:46,1,1", "1", "no time"},
                    BadRow{"2023-11-16 18:15:46.,1,1", "1", "no time"},
                    BadRow{"2023-11-16 18:15:46+02:00,1,1", "1", "no time"},
                    BadRow{"2023-11-16 18:15:46.7", "1", "ends too early"},
                    BadRow{"2023-11-16 18:15:46.7,12", "23", "ends too early"},
                    BadRow{"2023-11-16 18:15:46.7,-1,4", "23", "no count of tokens"},
                    BadRow{"2023-11-16 18:15:46.7,0,4", "23", "no count of tokens"},
                    BadRow{"2023-11-16 18:15:46.7,1,many", "25", "no count of tokens"},
                    BadRow{"2023-11-16 18:15:46.7,1,99999999999999999999", "25", "more tokens than"},
                    BadRow{"2023-11-16 18:15:46.7,1,1,1", "27", "more than three columns"},
                    BadRow{"2023-11-16 18:15:45.0,1,1", "1", "arrives before the one above"}));

class BadMooncakeRow : public testing::TestWithParam<BadRow> {};

TEST_P(BadMooncakeRow, IsAnErrorWithItsPlace) {
  const std::string good = "{\"timestamp\": 5, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [1]}\n";
  const ReadWorkload read = read_all(good + GetParam().row + "\n" + good);
  EXPECT_TRUE(read.error.starts_with("w.csv:2:" + GetParam().where + ": ")) << read.error;
  EXPECT_NE(read.error.find(GetParam().message), std::string::npos) << read.error;
  const ReadWorkload lenient = read_all(good + GetParam().row + "\n" + good, true);
  EXPECT_EQ(lenient.requests.size(), 2U);
  EXPECT_EQ(lenient.skipped, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadMooncakeRow,
    testing::Values(
        BadRow{"{\"timestamp\": 5, ", "18", "this is no JSON"}, BadRow{"[1]", "1", "no JSON object"},
        BadRow{R"({"timestamp": 2e999, "input_length": 9, "output_length": 1, "hash_ids": [1]})", "1",
               "beyond any range"},
        BadRow{R"({"timestamp": 5, "input_length": 9, "hash_ids": [1]})", "1", "has no \"output_length\""},
        BadRow{R"({"timestamp": 5.5, "input_length": 9, "output_length": 1, "hash_ids": [1]})", "2",
               "\"timestamp\" is"},
        BadRow{R"({"timestamp": 5, "input_length": 0, "output_length": 1, "hash_ids": []})", "18", "\"input_length\""},
        BadRow{R"({"timestamp": 5, "input_length": 9, "output_length": -1, "hash_ids": [1]})", "37",
               "\"output_length\""},
        BadRow{R"({"timestamp": 5, "input_length": 9, "output_length": 1})", "1", "no list"},
        BadRow{R"({"timestamp": 5, "input_length": 9, "output_length": 1, "hash_ids": ["a"]})", "57", "stands \"a\""},
        BadRow{R"({"timestamp": 5, "input_length": 513, "output_length": 1, "hash_ids": [1]})", "59", "has 1 ids"},
        BadRow{R"({"timestamp": 4, "input_length": 9, "output_length": 1, "hash_ids": [1]})", "1", "arrives before"}));

TEST(Workload, WhatIsNone) {
  EXPECT_EQ(read_all("").error, "w.csv: the workload is empty");
  EXPECT_EQ(read_all("\n \n").error, "w.csv: the workload is empty");
  EXPECT_TRUE(
      read_all("poolproof 1\n").error.starts_with("w.csv:1:1: this is no workload that is known; expected TIME"));
  EXPECT_FALSE(read_all("poolproof 1\n", true).error.empty());
  EXPECT_TRUE(read_all(header).requests.empty());
  EXPECT_EQ(read_all("\xef\xbb\xbf" + header + first_row).requests.size(), 1U);
}

struct RealWorkload {
  std::string file;
  std::size_t requests = 0;
  Tokens prompt_tokens = 0;
};

class RealFile : public testing::TestWithParam<RealWorkload> {};

TEST_P(RealFile, IsReadWhole) {
  const std::string path = std::string(POOLPROOF_SOURCE_DIR) + "/../shared/data/" + GetParam().file;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the workload " << GetParam().file << " is not beside the project, in ../shared/data";
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const ReadWorkload read = read_all(text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.requests.size(), GetParam().requests);
  Tokens tokens = 0;
  for (const Request& request : read.requests) {
    tokens += request.input_tokens;
  }
  EXPECT_EQ(tokens, GetParam().prompt_tokens);
}

INSTANTIATE_TEST_SUITE_P(Files, RealFile,
                         testing::Values(RealWorkload{"AzureLLMInferenceTrace_conv.csv", 19366, 22361870},
                                         RealWorkload{"AzureLLMInferenceTrace_code.csv", 8819, 18059974},
                                         RealWorkload{"mooncake_conversation_trace.jsonl", 12031, 144793823},
                                         RealWorkload{"mooncake_synthetic_trace.jsonl", 3993, 61194628}));

}  // namespace
}  // namespace poolproof
