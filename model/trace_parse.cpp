// A trace from its text: lines, comments, the header, group blocks and the limits.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "model/trace_error.hpp"
#include "model/trace_line.hpp"

namespace poolproof {
namespace {

class TraceReader {
 public:
  TraceReader(std::string_view text, std::string_view file, const TextLimits& limits)
      : text_(text), file_(file), limits_(limits) {}

  Result<Trace, TextError> read();

 private:
  struct OpenGroup {
    std::uint32_t number = 0;
    std::string_view line;
    std::size_t at = 0;
  };
  enum class Found : std::uint8_t { line, end, failure };

  bool fail(LineFailure failure);
  /// On to the next line that says something.
  Found next_line();
  /// The two opening lines.
  bool opening(std::optional<LineFailure> (*read)(std::string_view, Geometry&), std::string_view missing,
               std::string_view expected);
  bool read_ops();
  bool read_op();
  bool track(Block block);
  [[nodiscard]] std::size_t word_at() const { return LineCursor(code_).place(); }

  std::string_view text_;
  std::string_view file_;
  const TextLimits& limits_;
  std::size_t next_ = 0;      ///< where the next line starts
  std::uint32_t number_ = 0;  ///< of the line at hand
  std::string_view line_;     ///< without its end
  std::string_view code_;     ///< without comment
  std::vector<OpenGroup> open_;
  Trace trace_;
  TextError error_;
};

std::string_view without_comment(std::string_view line) {
  const void* const mark = line.empty() ? nullptr : std::memchr(line.data(), '#', line.size());
  return mark == nullptr ? line
                         : line.substr(0, static_cast<std::size_t>(static_cast<const char*>(mark) - line.data()));
}

bool TraceReader::fail(LineFailure failure) {
  error_ = text_error(file_, number_, line_, std::move(failure));
  return false;
}

TraceReader::Found TraceReader::next_line() {
  while (next_ < text_.size()) {
    ++number_;
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    line_ = text_.substr(next_, end - next_);
    next_ = end + 1;
    if (line_.ends_with('\r')) {
      line_.remove_suffix(1);
    }
    if (line_.size() > limits_.line_bytes) {
      fail({limits_.line_bytes, fmt::format("the line is longer than {} bytes", limits_.line_bytes), "its end"});
      return Found::failure;
    }
    code_ = without_comment(line_);
    if (!LineCursor(code_).at_end()) {
      return Found::line;
    }
  }
  return Found::end;
}

bool TraceReader::opening(std::optional<LineFailure> (*read)(std::string_view, Geometry&), std::string_view missing,
                          std::string_view expected) {
  switch (next_line()) {
    case Found::failure:
      return false;
    case Found::end:
      number_ = std::max(number_, 1U);
      return fail({line_.size(), std::string(missing), std::string(expected)});
    case Found::line:
      break;
  }
  auto failure = read(code_, trace_.geometry);
  return !failure || fail(*std::move(failure));
}

bool TraceReader::track(Block block) {
  if (block == Block::open) {
    if (open_.size() >= deepest_group_block) {
      return fail({word_at(), fmt::format("groups are nested deeper than {}", deepest_group_block), "'group_begin'"});
    }
    open_.push_back({number_, line_, word_at()});
  } else if (block == Block::close) {
    if (open_.empty()) {
      return fail({word_at(), "'}' closes no group", "'group {' before it, or 'group_end'"});
    }
    open_.pop_back();
  }
  return true;
}

bool TraceReader::read_op() {
  if (trace_.ops.size() >= limits_.ops) {
    return fail({word_at(), fmt::format("more than {} ops", limits_.ops), "the end of the file"});
  }
  Op op;
  Block block = Block::none;
  if (auto failure = read_op_line(code_, trace_.geometry, limits_, op, block)) {
    return fail(*std::move(failure));
  }
  trace_.ops.push_back(std::move(op));
  trace_.lines.push_back(number_);
  return track(block);
}

bool TraceReader::read_ops() {
  Found found = next_line();
  for (; found == Found::line; found = next_line()) {
    if (!read_op()) {
      return false;
    }
  }
  if (found == Found::failure) {
    return false;
  }
  if (!open_.empty()) {
    const OpenGroup& group = open_.back();
    number_ = group.number;
    line_ = group.line;
    return fail({group.at, "this group is never closed", "a line '}' before the end of the file"});
  }
  return true;
}

Result<Trace, TextError> TraceReader::read() {
  if (text_.size() > limits_.file_bytes) {
    return file_error(file_, fmt::format("the trace is larger than {} bytes", limits_.file_bytes));
  }
  const auto header = [](std::string_view line, Geometry& /*geometry*/) { return read_header_line(line); };
  if (!opening(header, text_.empty() ? "the trace is empty" : "the trace has no header", "the line 'poolproof 1'") ||
      !opening(read_pool_line, "the trace has no pool line", "a line such as 'pool layout=paged page=16 full=64p'") ||
      !read_ops()) {
    return std::move(error_);
  }
  return std::move(trace_);
}

}  // namespace

Result<Trace, TextError> parse_trace(std::string_view text, std::string_view file_name, const TextLimits& limits) {
  return TraceReader(text, file_name, limits).read();
}

}  // namespace poolproof
