// The trace language as text: parsing any bytes, printing with an exact round trip (docs/trace-language.md).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "model/ops.hpp"
#include "model/result.hpp"

namespace poolproof {

/// What is wrong with a trace's text, where, and what was expected there.
struct TextError {
  std::string file;          ///< as the caller named it
  std::uint32_t line = 0;    ///< from 1; 0 = the file as a whole
  std::uint32_t column = 0;  ///< from 1, in bytes
  std::string message;       ///< what is wrong
  std::string expected;      ///< what was expected there; may be empty
  std::string excerpt;       ///< the line, made printable and cut to fit; empty when there is none
  std::uint32_t caret = 0;   ///< column of the caret in the excerpt, from 1

  /// "file:line:column: message; expected ...\n  excerpt\n  ^"
  [[nodiscard]] std::string render() const;
};

/// Limits that keep hostile input from becoming an allocation.
struct TextLimits {
  std::size_t file_bytes = std::size_t{512} << 20;
  std::size_t line_bytes = 65536;
  std::size_t pieces_per_op = 4096;
  std::size_t ops = 50'000'000;
};

Result<Trace, TextError> parse_trace(std::string_view text, std::string_view file_name, const TextLimits& limits = {});

/// Reads and parses. A file that cannot be read, or is larger than the limit, is an error that says so.
Result<Trace, TextError> load_trace(const std::string& path, const TextLimits& limits = {});

/// Reads to the end and parses; `name` is what errors call it. Stops reading where a limit is passed, so that a pipe
/// costs no more than the limits allow.
Result<Trace, TextError> read_trace(std::FILE* file, const std::string& name, const TextLimits& limits = {});

/// One op as its line, without indentation or newline. Pool sizes are printed in pages where they fill them.
std::string print_op(const Op& op, const Geometry& g);

/// The whole trace; parse_trace(print_trace(t)) has the same geometry and ops, and printing that gives the same bytes.
/// `comment` lines, if any, go to the top behind '# '.
std::string print_trace(const Trace& trace, std::string_view comment = {});

}  // namespace poolproof
