// Sizes of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace poolproof::cli {

/// "52.4GiB", "100MiB", "4KiB", "4096" (of `unit_bytes`). Nothing on anything else, or above 2^50 bytes.
std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t unit_bytes);

}  // namespace poolproof::cli
