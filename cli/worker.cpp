#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/names.hpp"
#include "cli/output_options.hpp"
#include "impl/bridge/serve.hpp"

namespace poolproof::cli {
namespace {

/// Lines in, lines out, until stdin ends or a line is no request.
int serve(const std::string& name) {
  const ImplInfo* impl = find_impl(name);
  if (impl == nullptr) {
    return refuse(
        {fmt::format("--impl: no implementation is named '{}'; `poolproof list impls` names them all", name)});
  }
  Server server(*impl);
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    Result<std::string, BadRequest> answer = server.answer(line);
    if (!answer) {
      return refuse({fmt::format("<stdin>:{}: no request of the external protocol: {}; docs/external.md has them",
                                 number, answer.error().what)});
    }
    const std::string text = *std::move(answer) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
      return exit_holds;  // nobody listens any more
    }
  }
  return exit_holds;
}

}  // namespace

Command add_worker(CLI::App& program) {
  CLI::App* app = program.add_subcommand("worker", "Serve an implementation to another poolproof, on stdin and stdout");
  auto name = std::make_shared<std::string>("host");
  app->add_option("--impl", *name, "Implementation to serve, by name")->type_name("NAME")->capture_default_str();
  app->footer(
      "Speaks the external protocol of --impl exec:'COMMAND' (docs/external.md): JSON Lines, until stdin ends.\n\n"
      "Exit status: 0 stdin ended; 2 bad usage, or a line that is no request.\n\n"
      "Example:\n"
      "  poolproof check --impl exec:'poolproof worker --impl B15-group-end'");
  return {app, [name] { return serve(*name); }};
}

}  // namespace poolproof::cli
