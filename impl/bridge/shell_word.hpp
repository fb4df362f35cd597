// Text as one word of a shell command.
#pragma once

#include <string>

namespace poolproof {

/// Quoted where the shell would see more in it than text.
std::string shell_word(const std::string& text);

}  // namespace poolproof
