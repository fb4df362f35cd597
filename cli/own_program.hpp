// Where this very program is, to start it again.
#pragma once

#include <string>

namespace poolproof::cli {

/// The path of its file, or, where the system does not say or the file is gone, the name that it was called by.
std::string own_program();

}  // namespace poolproof::cli
