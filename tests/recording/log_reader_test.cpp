// Log files as they lie on disk: plain, zstd in many frames, cut off anywhere, damaged.
#include "recording/log_reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace poolproof {
namespace {

std::string packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  return out;
}

struct Read {
  std::vector<std::string> lines;
  std::string fault;
  bool cut = false;
  bool unterminated = false;
};

Read read(const std::string& bytes) {
  std::string path = (std::filesystem::temp_directory_path() / "poolproof-log-XXXXXX").string();
  const int file = mkstemp(path.data());
  EXPECT_GE(file, 0);
  close(file);
  std::ofstream(path, std::ios::binary) << bytes;
  Read result;
  auto reader = LogReader::open(path);
  EXPECT_TRUE(reader);
  while (true) {
    auto line = reader->next();
    if (!line) {
      result.fault = line.error().message;
      break;
    }
    if (!line->has_value()) {
      break;
    }
    result.lines.emplace_back(**line);
    EXPECT_EQ(reader->line(), result.lines.size());
    result.unterminated = reader->unterminated();
  }
  result.cut = reader->cut();
  std::filesystem::remove(path);
  return result;
}

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("line {} {}\n", i, i * 7919 % 104729);
  }
  return text;
}

TEST(LogReader, PlainLines) {
  EXPECT_EQ(read("a\nbc\r\n\nd\n").lines, (std::vector<std::string>{"a", "bc", "", "d"}));
  EXPECT_TRUE(read("").lines.empty());
  const Read open = read("a\nb");
  EXPECT_EQ(open.lines, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(open.unterminated);
}

TEST(LogReader, FramesOneAfterTheOther) {
  const Read result = read(packed("a\nb\n") + packed("c\n") + packed("d\ne\n"));
  EXPECT_EQ(result.lines, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_FALSE(result.cut);
  EXPECT_FALSE(result.unterminated);
}

TEST(LogReader, MoreThanABuffer) {
  const std::string text = many_lines(200000);
  const Read result = read(packed(text.substr(0, text.size() / 2)) + packed(text.substr(text.size() / 2)));
  EXPECT_EQ(result.fault, "");
  EXPECT_FALSE(result.cut);
  ASSERT_EQ(result.lines.size(), 200000U);
  EXPECT_TRUE(result.lines.back().starts_with("line 199999 "));
}

TEST(LogReader, CutAnywhere) {
  const std::string first = packed(many_lines(300));
  const std::string whole = first + packed(many_lines(40));
  for (std::size_t size = first.size(); size <= whole.size(); ++size) {
    const Read result = read(whole.substr(0, size));
    EXPECT_EQ(result.fault, "") << size;
    EXPECT_GE(result.lines.size(), 300U) << size;
    EXPECT_EQ(result.cut, size != first.size() && size != whole.size()) << size;
  }
}

TEST(LogReader, DamageIsNoCut) {
  std::string bytes = packed(many_lines(300));
  bytes[4] = '\xFF';
  bytes[5] = '\xFF';
  EXPECT_NE(read(bytes).fault.find("the zstd data is damaged"), std::string::npos);
  EXPECT_NE(read(packed("a\n") + "garbage garbage").fault.find("the zstd data is damaged"), std::string::npos);
}

TEST(LogReader, NoFile) {
  const auto reader = LogReader::open("/nonexistent/log.jsonl");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().render(),
            "/nonexistent/log.jsonl: No such file or directory; expected a recorder's log (.jsonl or .jsonl.zst)");
}

}  // namespace
}  // namespace poolproof
