// A line of a log as a record. Any bytes may come in; what is no line of a log is answered by a sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recording/log_record.hpp"

namespace poolproof {

struct LineFault {
  std::string message;
  std::string expected;  ///< may be empty
};

/// Fills `out`; nothing when the line is well-formed.
std::optional<LineFault> parse_log_line(std::string_view line, LogRecord& out);

}  // namespace poolproof
