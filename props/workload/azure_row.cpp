#include <array>
#include <chrono>

#include "model/number.hpp"
#include "props/workload/workload_row.hpp"

namespace poolproof {
namespace {

constexpr std::string_view time_wanted = "a time like 2023-11-16 18:15:46.6805900";

/// Takes fields off the front of a row.
class Fields {
 public:
  explicit Fields(std::string_view row) : row_(row) {}

  /// The next field and where it stands.
  std::string_view next() {
    at_ = next_;
    const std::size_t comma = row_.find(',', next_);
    const std::size_t end = comma == std::string_view::npos ? row_.size() : comma;
    next_ = end + 1;
    return row_.substr(at_, end - at_);
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool more() const { return next_ <= row_.size(); }

 private:
  std::string_view row_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
};

/// Digits at a fixed place.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) {
    return std::nullopt;
  }
  bool overflow = false;
  const auto number = whole_number(text.substr(at, count), overflow);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// The fraction behind the seconds, in microseconds, and whatever zone stands behind it, which must be UTC.
std::optional<std::int64_t> fraction_us(std::string_view rest) {
  std::int64_t micros = 0;
  std::size_t at = 0;
  if (rest.starts_with('.')) {
    std::int64_t unit = 100'000;
    for (at = 1; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at) {
      micros += (rest[at] - '0') * unit;
      unit /= 10;
    }
    if (at == 1) {
      return std::nullopt;
    }
  }
  const std::string_view zone = rest.substr(at);
  return zone.empty() || zone == "Z" || zone == "+00:00" ? std::optional(micros) : std::nullopt;
}

/// Microseconds since 1970, or nothing when it is no time.
std::optional<std::int64_t> time_us(std::string_view text) {
  constexpr std::array<std::pair<std::size_t, char>, 4> marks{{{4, '-'}, {7, '-'}, {13, ':'}, {16, ':'}}};
  if (text.size() < 19 || (text[10] != ' ' && text[10] != 'T')) {
    return std::nullopt;
  }
  for (const auto& [at, mark] : marks) {
    if (text[at] != mark) {
      return std::nullopt;
    }
  }
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  const auto fraction = fraction_us(text.substr(19));
  if (!year || !month || !day || !hour || !minute || !second || !fraction) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *year < 1970 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return (((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1'000'000 + *fraction;
}

std::optional<LineFailure> read_tokens(Fields& fields, const char* column, Pos least, Pos& tokens) {
  const std::string where = std::string("in column ") + column;
  if (!fields.more()) {
    return LineFailure{fields.at(), "the row ends too early", std::string(azure_columns)};
  }
  bool overflow = false;
  const auto number = whole_number(fields.next(), overflow);
  if (overflow || (number && *number > max_position)) {
    return LineFailure{fields.at(), where + " stand more tokens than a request can have",
                       "at most " + std::to_string(max_position)};
  }
  if (!number || *number < least) {
    return LineFailure{fields.at(), where + " stands no count of tokens",
                       "a whole number from " + std::to_string(least) + " on"};
  }
  tokens = *number;
  return std::nullopt;
}

}  // namespace

std::optional<LineFailure> read_azure_row(std::string_view line, Request& request) {
  Fields fields(line);
  const auto time = time_us(fields.next());
  if (!time) {
    return LineFailure{fields.at(), "in column TIMESTAMP stands no time", std::string(time_wanted)};
  }
  request.arrival_us = static_cast<std::uint64_t>(*time);
  request.blocks.clear();
  if (auto failure = read_tokens(fields, "ContextTokens", 1, request.input_tokens)) {
    return failure;
  }
  if (auto failure = read_tokens(fields, "GeneratedTokens", 0, request.output_tokens)) {
    return failure;
  }
  if (fields.more()) {
    fields.next();
    return LineFailure{fields.at(), "the row has more than three columns", std::string(azure_columns)};
  }
  return std::nullopt;
}

}  // namespace poolproof
