// The JUnit XML that `--junit` writes: a test case an implementation.
#pragma once

#include <string>

#include "cli/summary.hpp"

namespace poolproof::cli {

std::string to_junit(const Summary& summary);

}  // namespace poolproof::cli
