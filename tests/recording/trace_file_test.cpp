// Traces in files, plain and packed: read the same, and what is damaged says so.
#include "recording/trace_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "recording/zstd_packer.hpp"

namespace poolproof {
namespace {

const std::string text = "poolproof 1\npool layout=paged page=4 full=8p\nextend r0 0..6\nfree r0 0..6\n";

std::string packed(const std::string& plain) {
  ZstdPacker packer;
  std::string out;
  packer.pack(std::string_view(plain).substr(0, plain.size() / 2), out);
  packer.pack(std::string_view(plain).substr(plain.size() / 2), out);
  packer.finish(out);
  return out;
}

class TraceFile : public testing::Test {
 protected:
  TraceFile() : path_(testing::TempDir() + "trace_file_" + std::to_string(getpid())) {}
  ~TraceFile() override { std::filesystem::remove(path_); }

  Result<Trace, TextError> read(const std::string& bytes, const TextLimits& limits = {}) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return read_trace_file(path_, limits);
  }
  std::string error_of(const std::string& bytes, const TextLimits& limits = {}) {
    const auto trace = read(bytes, limits);
    return trace ? "none" : trace.error().message;
  }

  std::string path_;
};

TEST_F(TraceFile, PlainAndPackedAreTheSame) {
  EXPECT_LT(packed(text + std::string(5000, '#')).size(), 500U);
  for (const std::string& bytes : {text, packed(text), packed(text + "#" + std::string(60'000, 'x') + "\n")}) {
    const auto trace = read(bytes);
    ASSERT_TRUE(trace) << trace.error().render();
    EXPECT_EQ(trace->ops.size(), 2U);
  }
}

TEST_F(TraceFile, AMalformedTraceInsideIsPlacedByItsOwnLines) {
  const auto trace = read(packed("poolproof 1\npool layout=paged page=4 full=8p\nfree everything\n"));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().line, 3U);
  EXPECT_EQ(trace.error().file, path_);
}

TEST_F(TraceFile, DamageIsSaid) {
  const std::string whole = packed(text);
  EXPECT_EQ(error_of(whole.substr(0, whole.size() - 3)), "the file ends in the middle of a zstd frame");
  std::string spoilt = whole;
  spoilt[4] = static_cast<char>(0xff);
  EXPECT_TRUE(error_of(spoilt).starts_with("the zstd data is damaged (")) << error_of(spoilt);
  EXPECT_TRUE(error_of(whole + "garbage").starts_with("the zstd data is damaged (")) << error_of(whole + "garbage");
  EXPECT_NE(error_of("(no zstd at all)\n"), "none");
}

TEST_F(TraceFile, LimitsHoldForTheUnpackedText) {
  TextLimits limits;
  limits.file_bytes = 1 << 20;
  const std::string bomb = packed(text + std::string(64 << 20, '\n'));
  EXPECT_LT(bomb.size(), std::size_t{1} << 20);
  EXPECT_NE(error_of(bomb, limits).find("1048576"), std::string::npos) << error_of(bomb, limits);
}

TEST_F(TraceFile, WhatIsNotThere) {
  const auto missing = read_trace_file("/nonexistent.trace.zst");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "there is no such file");
  const auto folder = read_trace_file(testing::TempDir());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("directory"), std::string::npos);
}

}  // namespace
}  // namespace poolproof
