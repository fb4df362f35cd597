// What numbers a flag takes, with messages that say it.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>

#include "impl/bridge/external.hpp"

namespace poolproof::cli {

/// A whole number from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// A time in seconds, from a millisecond to some thirty years.
CLI::Validator seconds();

/// What --time-limit is when it is not given.
inline constexpr double default_time_limit_s = std::chrono::duration<double>(default_answer_limit).count();

/// --time-limit: how long an external implementation may take for an answer.
void add_time_limit(CLI::App& app, double& time_limit_s);

}  // namespace poolproof::cli
