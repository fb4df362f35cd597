// A cursor over one line of a trace: blanks skipped, tokens cut, the first failure kept with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace poolproof {

/// What is wrong with a line, and at which byte of it.
struct LineFailure {
  std::size_t at = 0;
  std::string message;
  std::string expected;
};

class LineCursor {
 public:
  /// `line` is without its comment and its line end.
  explicit LineCursor(std::string_view line) : line_(line) {}

  /// Nothing but blanks is left.
  bool at_end() {
    skip_blanks();
    return at_ == line_.size();
  }
  /// Where the next token starts.
  std::size_t place() {
    skip_blanks();
    return at_;
  }
  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::string_view line() const { return line_; }

  /// The next run of bytes up to a blank or one of , = < { }; empty when one of those, or the end, is next.
  std::string_view token() {
    skip_blanks();
    return adjacent_token();
  }
  /// The same from here on, without skipping blanks.
  std::string_view adjacent_token() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && !ends_token(line_[at_])) {
      ++at_;
    }
    return line_.substr(begin, at_ - begin);
  }
  /// Takes `text` if it comes next, behind blanks.
  bool take(std::string_view text) {
    skip_blanks();
    return take_adjacent(text);
  }
  bool take_adjacent(std::string_view text) {
    if (!line_.substr(at_).starts_with(text)) {
      return false;
    }
    at_ += text.size();
    return true;
  }
  /// What stands here, to be quoted: a token, or the single byte that is none.
  std::string_view found() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view token = adjacent_token();
    at_ = begin;
    return token.empty() ? line_.substr(begin, 1) : token;
  }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t'; }
  static bool ends_token(char c) { return blank(c) || c == ',' || c == '=' || c == '<' || c == '{' || c == '}'; }
  void skip_blanks() {
    while (at_ < line_.size() && blank(line_[at_])) {
      ++at_;
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace poolproof
