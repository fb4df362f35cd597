// Where text for people goes. Results go to stdout unless a machine's output was asked for there ("--json -"), messages
// and progress to stderr. A closed pipe is quiet: the run goes on and the exit status still tells the verdict.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace poolproof::cli {

enum class ColorMode : std::uint8_t { automatic, always, never };

class Console {
 public:
  /// `to_stderr`: results make room on stdout for a machine.
  explicit Console(bool to_stderr, ColorMode color);

  /// At once, so that it stands before whatever the run does next. When it cannot be written, stderr says so, once.
  void print(std::string_view text);
  /// The status to exit with: a result that nobody could read is not "holds".
  [[nodiscard]] int finish(int status) const;
  /// "poolproof: MESSAGE" on stderr.
  static void complain(std::string_view message);
  [[nodiscard]] bool color() const { return color_; }
  /// `text` in the SGR style `code` ("1", "1;31") when colour is on.
  [[nodiscard]] std::string styled(std::string_view code, std::string_view text) const;

 private:
  std::FILE* out_;
  bool color_;
  bool broken_ = false;  ///< a write failed; nothing more is written
  bool lost_ = false;    ///< and not because the reader went away
};

bool stderr_is_terminal();

}  // namespace poolproof::cli
