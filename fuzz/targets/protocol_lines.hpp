// The external protocol's lines (docs/external.md) in both directions, apart from the other readers: both rooms have a
// Request of their own.
#pragma once

#include <string_view>

namespace poolproof {

/// Each line as a request, and as each kind of answer.
void read_protocol_lines(std::string_view text);

}  // namespace poolproof
