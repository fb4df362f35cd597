#pragma once

#include <string_view>

namespace poolproof::cli {

/// "0.1.0"
std::string_view version();

}  // namespace poolproof::cli
