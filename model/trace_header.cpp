// The two lines that open a trace.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/faults.hpp"
#include "model/number.hpp"
#include "model/trace_line.hpp"

namespace poolproof {
namespace {

constexpr std::string_view header_form = "the line 'poolproof 1'";
constexpr std::string_view pool_form = "a line such as 'pool layout=paged page=16 full=64p'";
constexpr std::size_t key_count = 17;

/// key=value of the pool line, and where the two stand.
struct Field {
  std::string_view value;
  std::size_t key_at = 0;
  std::size_t value_at = 0;
  bool given = false;
};
using Fields = std::array<Field, key_count>;

std::optional<LineFailure> failure(std::size_t at, std::string message, std::string_view expected) {
  return LineFailure{at, std::move(message), std::string(expected)};
}

std::optional<LineFailure> read_field(LineCursor& cursor, Fields& fields) {
  const auto keys = geometry_keys();
  const std::size_t key_at = cursor.place();
  const std::string_view key = cursor.adjacent_token();
  if (key.empty()) {
    return failure(key_at, fmt::format("unexpected '{}'", printable_text(cursor.found())), "a key such as page=16");
  }
  const auto known = std::find(keys.begin(), keys.end(), key);
  if (known == keys.end()) {
    Geometry unused;
    return failure(key_at, set_geometry_key(unused, key, {}).value_or(""), "");
  }
  if (!cursor.take_adjacent("=")) {
    return failure(cursor.offset(), fmt::format("'{}' has no value", key), "'=' and the value, without blanks");
  }
  Field& field = fields.at(static_cast<std::size_t>(std::distance(keys.begin(), known)));
  if (field.given) {
    return failure(key_at, fmt::format("'{}' is given twice", key), "");
  }
  const std::size_t value_at = cursor.offset();
  field = {cursor.adjacent_token(), key_at, value_at, true};
  if (field.value.empty()) {
    return failure(value_at, fmt::format("'{}=' has no value", key), "the value right behind the '='");
  }
  return std::nullopt;
}

std::optional<LineFailure> apply_fields(const Fields& fields, Geometry& g) {
  const auto keys = geometry_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Field& field = fields.at(i);
    if (!field.given) {
      continue;
    }
    if (auto complaint = set_geometry_key(g, keys[i], field.value)) {
      return failure(field.value_at, *std::move(complaint), "");
    }
  }
  return std::nullopt;
}

/// At the value to change, or at the line's end where a key is missing.
std::optional<LineFailure> whole_fault(std::string_view line, const Fields& fields, const Geometry& g) {
  auto fault = find_geometry_fault(g);
  if (!fault) {
    return std::nullopt;
  }
  const auto keys = geometry_keys();
  const auto key = std::find(keys.begin(), keys.end(), fault->key);
  const Field& field = fields.at(static_cast<std::size_t>(std::distance(keys.begin(), key)));
  return failure(field.given ? field.value_at : line.size(), std::move(fault->message), "");
}

}  // namespace

std::optional<LineFailure> read_header_line(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) {
    return failure(0, "the file starts with a byte order mark; save it without", header_form);
  }
  LineCursor cursor(line);
  const std::size_t word_at = cursor.place();
  const std::string_view found = cursor.found();
  if (cursor.token() != "poolproof") {
    return failure(word_at, fmt::format("a trace starts with 'poolproof', not '{}'", printable_text(found)),
                   header_form);
  }
  const std::size_t version_at = cursor.place();
  const std::string_view version = cursor.token();
  if (version.empty()) {
    return failure(version_at,
                   cursor.at_end() ? "the version of the language is missing"
                                   : fmt::format("unexpected '{}'", printable_text(cursor.found())),
                   "version 1");
  }
  bool overflow = false;
  const auto number = whole_number(version, overflow);
  if (overflow) {
    return failure(version_at, "number too large", "version 1");
  }
  if (!number) {
    return failure(version_at, fmt::format("'{}' is not a version", printable_text(version)), "version 1");
  }
  if (*number != 1) {
    return failure(version_at, fmt::format("version {} of the language is unknown", *number), "version 1");
  }
  if (!cursor.at_end()) {
    return failure(cursor.place(), fmt::format("unexpected '{}'", printable_text(cursor.found())),
                   "the end of the line");
  }
  return std::nullopt;
}

std::optional<LineFailure> read_pool_line(std::string_view line, Geometry& g) {
  LineCursor cursor(line);
  const std::size_t word_at = cursor.place();
  const std::string_view found = cursor.found();
  if (cursor.token() != "pool") {
    return failure(word_at, fmt::format("'{}' stands before the pool line", printable_text(found)), pool_form);
  }
  Fields fields;
  while (!cursor.at_end()) {
    if (auto wrong = read_field(cursor, fields)) {
      return wrong;
    }
  }
  g = Geometry{};
  auto wrong = apply_fields(fields, g);
  return wrong ? wrong : whole_fault(line, fields, g);
}

}  // namespace poolproof
