#include "cli/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/exit_status.hpp"

namespace poolproof::cli {
namespace {

bool wants_color(ColorMode mode, std::FILE* out) {
  if (mode != ColorMode::automatic) {
    return mode == ColorMode::always;
  }
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(fileno(out)) != 0;
}

}  // namespace

Console::Console(bool to_stderr, ColorMode color)
    : out_(to_stderr ? stderr : stdout), color_(wants_color(color, out_)) {}

void Console::print(std::string_view text) {
  if (broken_) {
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), out_) == text.size() && std::fflush(out_) == 0) {
    return;
  }
  broken_ = true;
  lost_ = errno != EPIPE;
  if (lost_) {
    complain(fmt::format("cannot write the results: {}", std::strerror(errno)));
  }
}

int Console::finish(int status) const { return lost_ && status == exit_holds ? exit_usage : status; }

void Console::complain(std::string_view message) {
  const std::string line = fmt::format("poolproof: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string Console::styled(std::string_view code, std::string_view text) const {
  return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace poolproof::cli
