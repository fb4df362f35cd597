// What a campaign exercised, for people.
#pragma once

#include <string>

#include "props/coverage.hpp"

namespace poolproof::cli {

/// Each op served and refused, each corner, and what is missing.
std::string coverage_table(const Coverage& coverage);

}  // namespace poolproof::cli
