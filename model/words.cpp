// Words in messages: suggestions for misspelt ones, and hostile ones made printable.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "model/faults.hpp"

namespace poolproof {
namespace {

constexpr std::size_t longest_word = 24;
constexpr std::size_t most_quoted_bytes = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Insertions, deletions and replacements from `a` to the lower-case `b`; both are at most longest_word long.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, longest_word + 1> row{};
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == b[j - 1] ? 0U : 1U);
      diagonal = row.at(j);
      row.at(j) = std::min({replaced, row.at(j) + 1, row.at(j - 1) + 1});
    }
  }
  return row.at(b.size());
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > longest_word) {
    return {};
  }
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string printable_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, most_quoted_bytes)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > most_quoted_bytes ? out + "..." : out;
}

}  // namespace poolproof
