#include "cli/trace_input.hpp"

#include <cstdio>

namespace poolproof::cli {

Result<Trace, TextError> read_trace(const std::string& path) {
  return path == "-" ? poolproof::read_trace(stdin, "<stdin>") : load_trace(path);
}

}  // namespace poolproof::cli
