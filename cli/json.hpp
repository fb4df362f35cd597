// The JSON that `--json` writes; docs/reference.md says what each field means.
#pragma once

#include <string>

#include "cli/summary.hpp"

namespace poolproof::cli {

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
inline constexpr int json_schema = 1;

std::string to_json(const Summary& summary);

}  // namespace poolproof::cli
