// How the implementations that --impl names are run: --time-limit, --isolate, --ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "impl/bridge/external.hpp"

namespace CLI {
class App;
}

namespace poolproof::cli {

struct ImplOptions {
  /// How long an implementation in a child process may take for an answer.
  double time_limit_s = std::chrono::duration<double>(default_answer_limit).count();
  std::string isolate = "auto";  ///< auto, always, never
  std::uint32_t ranks = 1;       ///< replicas at least
};

void add_impl_options(CLI::App& app, ImplOptions& options);

}  // namespace poolproof::cli
