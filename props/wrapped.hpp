// Text for people, broken into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace poolproof {

/// Breaks `text` at blanks so that lines are at most `width` long; a longer word stands alone. At least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace poolproof
