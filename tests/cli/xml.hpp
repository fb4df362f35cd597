// Is a text well-formed XML? As far as JUnit files need: a declaration, elements, attributes, text, the five entities.
#pragma once

#include <string>

namespace poolproof {

/// Empty, or what is wrong.
std::string xml_fault(const std::string& text);

}  // namespace poolproof
