// Numbers as the trace language writes them: decimal digits alone, a size optionally in pages ("15p").
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "model/units.hpp"

namespace poolproof {

/// Nothing when `text` is not digits alone or does not fit; `overflow` tells the second from the first.
inline std::optional<std::int64_t> whole_number(std::string_view text, bool& overflow) {
  overflow = false;
  if (text.empty() || text.front() < '0' || text.front() > '9') {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) {
    return std::nullopt;
  }
  overflow = error == std::errc::result_out_of_range;
  return overflow ? std::nullopt : std::optional(number);
}

/// The same for a size: tokens, or pages of `page` tokens behind which stands a 'p'.
inline std::optional<Tokens> token_count(std::string_view text, Tokens page, bool& overflow) {
  const bool in_pages = text.ends_with('p');
  const auto number = whole_number(in_pages ? text.substr(0, text.size() - 1) : text, overflow);
  if (!number || !in_pages) {
    return number;
  }
  overflow = page > 0 && *number > std::numeric_limits<Tokens>::max() / page;
  return overflow || page <= 0 ? std::nullopt : std::optional(*number * page);
}

}  // namespace poolproof
