#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_options.hpp"
#include "impl/bridge/serve.hpp"
#include "impl/ranks.hpp"

namespace poolproof::cli {
namespace {

struct WorkerOptions {
  std::string impl = "host";
  std::uint32_t rank = 0;
};

/// Until stdin ends, a line is no request, or the implementation is beyond repair.
int serve(const WorkerOptions& options) {
  const std::string& name = options.impl;
  const ImplInfo* impl = find_impl(name);
  if (impl == nullptr) {
    return refuse(
        {fmt::format("--impl: no implementation is named '{}'; `poolproof list impls` names them all", name)});
  }
  Server server(*impl, options.rank);
  if (const std::optional<BadRequest> bad = serve_lines(server, std::cin, stdout)) {
    return refuse({fmt::format("<stdin>:{}: no request of the external protocol: {}; docs/external.md has them",
                               bad->line, bad->what)});
  }
  return exit_holds;
}

}  // namespace

Command add_worker(CLI::App& program) {
  CLI::App* app = program.add_subcommand("worker", "Serve an implementation to another poolproof, on stdin and stdout");
  auto options = std::make_shared<WorkerOptions>();
  app->add_option("--impl", options->impl, "Implementation to serve, by name")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--rank", options->rank, "Which of its replicas this is: a device's is its number modulo the devices")
      ->type_name("K")
      ->check(whole_number(0, max_ranks - 1))
      ->capture_default_str();
  app->footer(
      "Speaks the external protocol of --impl exec:'COMMAND' (docs/external.md): JSON Lines, until stdin ends.\n\n"
      "Exit status: 0 stdin ended, or an error spoilt this process for good; 2 bad usage, or a line that is no "
      "request.\n\n"
      "Example:\n"
      "  poolproof check --impl exec:'poolproof worker --impl B15-group-end'");
  return {app, [options] { return serve(*options); }};
}

}  // namespace poolproof::cli
