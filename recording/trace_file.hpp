// Traces in files, plain or packed with zstd (`.trace.zst`), told apart by their first bytes.
#pragma once

#include <string>

#include "model/trace_text.hpp"

namespace poolproof {

/// As load_trace; "-" is stdin, named "<stdin>" in errors. The limits hold for the unpacked text.
Result<Trace, TextError> read_trace_file(const std::string& path, const TextLimits& limits = {});

}  // namespace poolproof
