// What an external implementation offers, what was exercised of it and what was left out: for its adapter's author.
#pragma once

#include <string>

#include "impl/bridge/capabilities.hpp"
#include "props/coverage.hpp"

namespace poolproof::cli {

std::string capabilities_table(const Capabilities& capabilities, const Coverage& exercised);

}  // namespace poolproof::cli
