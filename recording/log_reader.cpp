#include "recording/log_reader.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace poolproof {
namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 17U;
constexpr std::size_t longest_line_bytes = std::size_t{64} << 20U;

/// A zstd frame, or a skippable one, begins here.
bool is_zstd(std::string_view head) {
  return head.starts_with("\x28\xB5\x2F\xFD") ||
         (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50 &&
          head.substr(1, 3) == "\x2A\x4D\x18");
}

}  // namespace

/// The state of unpacking: what of the input is still to be looked at.
class LogReader::Unpacker {
 public:
  Unpacker() : stream_(ZSTD_createDStream(), &ZSTD_freeDStream), output_(ZSTD_DStreamOutSize()) {}

  /// Unpacks into `text` until the input is used up; the message when it is no zstd.
  std::optional<std::string> unpack(std::string_view input, std::string& text) {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    bool held_back = false;  // what did not fit into the output is still inside the stream
    while (in.pos < in.size || held_back) {
      ZSTD_outBuffer out{output_.data(), output_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(left) != 0U) {
        return std::string(ZSTD_getErrorName(left));
      }
      inside_frame_ = left != 0;
      held_back = inside_frame_ && out.pos == out.size;
      text.append(output_.data(), out.pos);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool inside_frame() const { return inside_frame_; }

 private:
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  std::vector<char> output_;
  bool inside_frame_ = false;
};

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
  if (!std::exchange(begun_, true) && is_zstd(input)) {
    unpacker_ = std::make_unique<Unpacker>();
  }
  if (unpacker_ == nullptr) {
    text_ += input;
    return true;
  }
  if (const std::optional<std::string> damage = unpacker_->unpack(input, text_)) {
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
