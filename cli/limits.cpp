#include "cli/limits.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace poolproof::cli {
namespace {

constexpr double least_seconds = 0.001;
constexpr double most_seconds = 1e9;

template <typename Number>
bool within(const std::string& text, Number least, Number most) {
  Number value{};
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && value >= least && value <= most;
}

/// Without a description, so that the help stays short.
CLI::Validator validator(std::function<std::string(std::string&)> check) {
  return CLI::Validator(std::move(check), "");
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return validator([=](const std::string& text) {
    return within(text, least, most) ? std::string()
                                     : fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  });
}

CLI::Validator seconds() {
  return validator([](const std::string& text) {
    return within(text, least_seconds, most_seconds)
               ? std::string()
               : fmt::format("'{}' is no time from {} to {:.0f} seconds", text, least_seconds, most_seconds);
  });
}

CLI::Validator factor() {
  return validator([](const std::string& text) {
    return within(text, 0.001, 1e6) ? std::string() : fmt::format("'{}' is no factor from 0.001 to 1000000", text);
  });
}

}  // namespace poolproof::cli
