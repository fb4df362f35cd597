#include "cli/impl_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/limits.hpp"
#include "impl/ranks.hpp"

namespace poolproof::cli {

void add_impl_options(CLI::App& app, ImplOptions& options) {
  app.add_option("--ranks", options.ranks,
                 "Replicas of the implementation that are fed the same ops and must agree on every loc")
      ->type_name("N")
      ->check(whole_number(1, max_ranks))
      ->capture_default_str();
  app.add_option("--isolate", options.isolate,
                 "Run built-in implementations in a process of their own, so that one that dies or hangs is a verdict: "
                 "auto (those that may spoil their process), always, never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit_s,
                 "Seconds that an external implementation (exec:), or one in a process of its own, may take for one "
                 "answer; then it hangs")
      ->type_name("SECS")
      ->check(seconds())
      ->capture_default_str();
}

}  // namespace poolproof::cli
