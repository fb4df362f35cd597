#include "cli/size_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace poolproof::cli {
namespace {

constexpr double most_bytes = 1125899906842624;  // 2^50

constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> units{
    {{"KiB", std::int64_t{1} << 10}, {"MiB", std::int64_t{1} << 20}, {"GiB", std::int64_t{1} << 30}}};

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t unit_bytes) {
  for (const auto& [name, bytes] : units) {
    if (text.ends_with(name)) {
      text.remove_suffix(name.size());
      unit_bytes = bytes;
      break;
    }
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !(number >= 0)) {
    return std::nullopt;
  }
  const double bytes = std::round(number * static_cast<double>(unit_bytes));
  return bytes <= most_bytes ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
}

}  // namespace poolproof::cli
