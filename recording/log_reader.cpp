#include "recording/log_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace poolproof {
namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 17U;
constexpr std::size_t longest_line_bytes = std::size_t{64} << 20U;

}  // namespace

LogReader::LogReader(std::string name, std::FILE* file) : name_(std::move(name)), file_(file), input_(input_bytes) {}

LogReader::~LogReader() {
  if (file_ != nullptr && file_ != stdin) {
    std::fclose(file_);
  }
}

LogReader::LogReader(LogReader&& other) noexcept
    : name_(std::move(other.name_)),
      file_(std::exchange(other.file_, nullptr)),
      input_(std::move(other.input_)),
      unpacker_(std::move(other.unpacker_)),
      begun_(other.begun_),
      ended_(other.ended_),
      cut_(other.cut_),
      unterminated_(other.unterminated_),
      text_(std::move(other.text_)),
      next_(other.next_),
      line_(other.line_) {}

Result<LogReader, LogFault> LogReader::open(const std::string& path) {
  if (path == "-") {
    return LogReader("<stdin>", stdin);
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return LogFault{path, 0, std::strerror(errno), "a recorder's log (.jsonl or .jsonl.zst)"};
  }
  return LogReader(path, file);
}

LogFault LogReader::fault(std::string message, std::string expected) const {
  return {name_, line_ + 1, std::move(message), std::move(expected)};
}

Result<bool, LogFault> LogReader::more() {
  if (ended_) {
    return false;
  }
  const std::size_t count = std::fread(input_.data(), 1, input_.size(), file_);
  if (count < input_.size()) {
    if (std::ferror(file_) != 0) {
      return LogFault{name_, 0, std::strerror(errno), "a file that can be read"};
    }
    ended_ = true;
  }
  const std::string_view input(input_.data(), count);
  if (!std::exchange(begun_, true) && begins_zstd(input)) {
    unpacker_ = std::make_unique<ZstdUnpacker>();
  }
  if (unpacker_ == nullptr) {
    text_ += input;
    return true;
  }
  if (const std::optional<std::string> damage =
          unpacker_->unpack(input, text_, std::numeric_limits<std::size_t>::max())) {
    return fault(fmt::format("the zstd data is damaged here or later ({})", *damage), "whole zstd frames");
  }
  cut_ = ended_ && unpacker_->inside_frame();
  return true;
}

Result<std::optional<std::string_view>, LogFault> LogReader::next() {
  std::size_t end = text_.find('\n', next_);
  while (end == std::string::npos) {
    text_.erase(0, next_);
    const std::size_t searched = text_.size();
    next_ = 0;
    if (searched > longest_line_bytes) {
      return fault(fmt::format("the line is longer than {} bytes", longest_line_bytes), "its end");
    }
    const Result<bool, LogFault> grown = more();
    if (!grown) {
      return grown.error();
    }
    if (!*grown) {
      break;
    }
    end = text_.find('\n', searched);
  }
  unterminated_ = end == std::string::npos;
  if (unterminated_ && next_ == text_.size()) {
    return std::optional<std::string_view>();
  }
  std::string_view found = std::string_view(text_).substr(next_, unterminated_ ? std::string::npos : end - next_);
  next_ = unterminated_ ? text_.size() : end + 1;
  ++line_;
  if (found.ends_with('\r')) {
    found.remove_suffix(1);
  }
  return std::optional(found);
}

}  // namespace poolproof
