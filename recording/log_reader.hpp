// The lines of one log file, as they are read: plain, or unpacked from zstd frames as they come.
//
// A file whose writer was killed ends anywhere. Its complete lines are handed out and `cut` says that there was more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.hpp"
#include "recording/log_fault.hpp"
#include "recording/zstd_unpacker.hpp"

namespace poolproof {

class LogReader {
 public:
  /// "-" is stdin.
  static Result<LogReader, LogFault> open(const std::string& path);
  ~LogReader();
  LogReader(LogReader&& other) noexcept;
  LogReader& operator=(LogReader&&) = delete;
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// The next line without its end, valid until the next call; nothing at the end of the file.
  Result<std::optional<std::string_view>, LogFault> next();
  /// Of the line handed out last, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// The line handed out last had no end: it may be half of one.
  [[nodiscard]] bool unterminated() const { return unterminated_; }
  /// A zstd frame did not come to its end. Known once the file was read to its end.
  [[nodiscard]] bool cut() const { return cut_; }
  /// What errors call the file.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  LogReader(std::string name, std::FILE* file);
  /// More text behind `text_`; false at the end of the file.
  Result<bool, LogFault> more();
  [[nodiscard]] LogFault fault(std::string message, std::string expected) const;

  std::string name_;
  std::FILE* file_;
  std::vector<char> input_;
  std::unique_ptr<ZstdUnpacker> unpacker_;  ///< null: plain text
  bool begun_ = false;
  bool ended_ = false;
  bool cut_ = false;
  bool unterminated_ = false;
  std::string text_;      ///< unpacked, not all of it handed out yet
  std::size_t next_ = 0;  ///< where the next line starts in it
  std::uint64_t line_ = 0;
};

}  // namespace poolproof
