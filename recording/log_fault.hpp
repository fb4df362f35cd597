// What is wrong with a log, where, and what was expected there.
#pragma once

#include <cstdint>
#include <string>

namespace poolproof {

struct LogFault {
  std::string file;
  std::uint64_t line = 0;  ///< from 1; 0 = the file as a whole
  std::string message;
  std::string expected;  ///< may be empty

  /// "file:line: message; expected ..."
  [[nodiscard]] std::string render() const;
};

}  // namespace poolproof
