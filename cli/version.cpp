#include "cli/version.hpp"

namespace poolproof::cli {

std::string_view version() { return POOLPROOF_VERSION; }

}  // namespace poolproof::cli
