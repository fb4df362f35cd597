#include "cli/trace_input.hpp"

#include <array>
#include <cstdio>

namespace poolproof::cli {

Result<Trace, TextError> read_trace(const std::string& path) {
  if (path != "-") {
    return load_trace(path);
  }
  const TextLimits limits;
  std::string text;
  std::array<char, 65536> buffer{};
  // One byte over the limit is enough for the parser to say so.
  while (text.size() <= limits.file_bytes) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), stdin);
    if (got == 0) {
      break;
    }
    text.append(buffer.data(), got);
  }
  if (std::ferror(stdin) != 0) {
    TextError error;
    error.file = "<stdin>";
    error.message = "cannot be read";
    return error;
  }
  return parse_trace(text, "<stdin>", limits);
}

}  // namespace poolproof::cli
