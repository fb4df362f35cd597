// What numbers a flag takes, with messages that say it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace poolproof::cli {

/// A whole number from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// A time in seconds, from a millisecond to some thirty years.
CLI::Validator seconds();

/// How many times faster: from a thousandth to a million.
CLI::Validator factor();

}  // namespace poolproof::cli
