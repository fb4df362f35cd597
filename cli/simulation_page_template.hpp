// The page of `poolproof simulate --html`, cli/page/simulate.html, compiled in (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace poolproof::cli {

extern const std::string_view simulation_page_template;

}  // namespace poolproof::cli
