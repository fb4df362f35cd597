// Finds the part of an op's line that a static fault is about. Only looked for once there is a fault, so that reading
// a good line keeps no places.
#include "model/faults.hpp"
#include "model/trace_line.hpp"

namespace poolproof {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_row(std::string_view token) { return token.size() > 1 && token[0] == 'r' && is_digit(token[1]); }

bool is_range(std::string_view token) { return token.find("..") != std::string_view::npos; }

bool is_part(OpPart part, std::string_view token) {
  switch (part) {
    case OpPart::row:
      return is_row(token);
    case OpPart::range:
      return is_range(token);
    default:
      // A trim's length or a backup's name.
      return !is_row(token) && is_digit(token.back());
  }
}

std::size_t behind(std::string_view line, std::string_view key, std::size_t otherwise) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? otherwise : at + key.size();
}

}  // namespace

std::size_t place_of(const OpFault& fault, std::string_view line) {
  LineCursor cursor(line);
  const std::size_t word_at = cursor.place();
  switch (fault.part) {
    case OpPart::word:
      return word_at;
    case OpPart::swa:
      return behind(line, "swa=", word_at);
    case OpPart::full:
      return behind(line, "full=", word_at);
    default:
      break;
  }
  cursor.token();
  for (std::size_t index = 0; !cursor.at_end();) {
    const std::size_t at = cursor.place();
    const std::string_view token = cursor.token();
    if (token.empty()) {
      cursor.take_adjacent(cursor.found());  // a mark between tokens
    } else if (is_part(fault.part, token) && index++ == fault.index) {
      return at;
    }
  }
  return word_at;
}

}  // namespace poolproof
