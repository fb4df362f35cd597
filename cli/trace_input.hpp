// Traces from a file or from stdin.
#pragma once

#include <string>

#include "model/trace_text.hpp"

namespace poolproof::cli {

/// "-" is stdin, named "<stdin>" in errors.
Result<Trace, TextError> read_trace(const std::string& path);

}  // namespace poolproof::cli
