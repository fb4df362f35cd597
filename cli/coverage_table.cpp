#include "cli/coverage_table.hpp"

#include <fmt/format.h>

namespace poolproof::cli {
namespace {

std::size_t pairs_seen(const Coverage& coverage) {
  std::size_t seen = 0;
  for (std::size_t first = 0; first < op_word_count; ++first) {
    for (std::size_t second = 0; second < op_word_count; ++second) {
      seen += coverage.pair(static_cast<OpWord>(first), static_cast<OpWord>(second)) > 0 ? 1 : 0;
    }
  }
  return seen;
}

}  // namespace

std::string coverage_table(const Coverage& coverage) {
  std::string out = fmt::format("{:<22}  {:>11}  {:>9}\n", "op", "served", "refused");
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    out += fmt::format("{:<22}  {:>11}  {:>9}\n", op_word_name(word), coverage.served(word), coverage.refused(word));
  }
  out += fmt::format("\n{:<22}  {:>11}\n", "corner", "times");
  for (std::size_t i = 0; i < corner_count; ++i) {
    const auto corner = static_cast<Corner>(i);
    out += fmt::format("{:<22}  {:>11}\n", corner_name(corner), coverage.corner(corner));
  }
  out += fmt::format("\n{:<22}  {:>11}\n\n", "ordered pairs of ops", pairs_seen(coverage));
  const std::vector<std::string> missing = coverage.missing();
  out += missing.empty() ? "missing: nothing\n" : fmt::format("missing: {}\n", missing.size());
  for (const std::string& item : missing) {
    out += fmt::format("  {}\n", item);
  }
  return out;
}

}  // namespace poolproof::cli
