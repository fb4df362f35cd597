#include "recording/log_fault.hpp"

#include <fmt/format.h>

namespace poolproof {

std::string LogFault::render() const {
  std::string text = line == 0 ? fmt::format("{}: {}", file, message) : fmt::format("{}:{}: {}", file, line, message);
  if (!expected.empty()) {
    text += fmt::format("; expected {}", expected);
  }
  return text;
}

}  // namespace poolproof
