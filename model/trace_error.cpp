#include "model/trace_error.hpp"

#include <fmt/format.h>

namespace poolproof {
namespace {

constexpr std::size_t most_columns = 100;
constexpr std::size_t columns_before = 60;
constexpr std::string_view cut_mark = "...";

void append_visible(std::string& out, char c) {
  if (c == '\t') {
    out += "\\t";
  } else if (c >= ' ' && c <= '~') {
    out += c;
  } else {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

std::size_t visible_columns(char c) {
  if (c == '\t') {
    return 2;
  }
  return c >= ' ' && c <= '~' ? 1 : 4;
}

/// The first byte to show, so that what stands before `at` fills at most columns_before.
std::size_t excerpt_begin(std::string_view line, std::size_t at) {
  std::size_t columns = 0;
  std::size_t begin = at;
  while (begin > 0 && columns + visible_columns(line[begin - 1]) <= columns_before) {
    --begin;
    columns += visible_columns(line[begin]);
  }
  return begin;
}

void set_excerpt(TextError& error, std::string_view line, std::size_t at) {
  const std::size_t begin = excerpt_begin(line, at);
  std::string& out = error.excerpt;
  if (begin > 0) {
    out += cut_mark;
  }
  std::size_t next = begin;
  for (; next < line.size() && out.size() + visible_columns(line[next]) <= most_columns; ++next) {
    if (next == at) {
      error.caret = static_cast<std::uint32_t>(out.size() + 1);
    }
    append_visible(out, line[next]);
  }
  if (at >= next) {
    error.caret = static_cast<std::uint32_t>(out.size() + 1);
  }
  if (next < line.size()) {
    out += cut_mark;
  }
}

}  // namespace

TextError text_error(std::string_view file, std::uint32_t number, std::string_view line, LineFailure failure) {
  TextError error;
  error.file = file;
  error.line = number;
  error.column = static_cast<std::uint32_t>(failure.at + 1);
  error.message = std::move(failure.message);
  error.expected = std::move(failure.expected);
  set_excerpt(error, line, failure.at);
  return error;
}

TextError file_error(std::string_view file, std::string message) {
  TextError error;
  error.file = file;
  error.message = std::move(message);
  return error;
}

std::string TextError::render() const {
  std::string text =
      line == 0 ? fmt::format("{}: {}", file, message) : fmt::format("{}:{}:{}: {}", file, line, column, message);
  if (!expected.empty()) {
    text += "; expected " + expected;
  }
  if (!excerpt.empty() && caret > 0) {
    text += fmt::format("\n  {}\n  {:>{}}", excerpt, "^", caret);
  }
  return text;
}

}  // namespace poolproof
