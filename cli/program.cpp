#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/interrupt.hpp"
#include "cli/names.hpp"
#include "cli/version.hpp"
#include "props/wrapped.hpp"

namespace poolproof::cli {
namespace {

/// CLI11's, with descriptions broken into lines.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(option_width); }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string description;
    for (const std::string& line : wrapped(CLI::Formatter::make_option_desc(option), help_width - option_width)) {
      description += (description.empty() ? "" : "\n") + line;
    }
    return description;
  }

 private:
  static constexpr std::size_t option_width = 30;
  static constexpr std::size_t help_width = 110;
};

constexpr const char* footer =
    "Exit status: 0 holds; 1 an invariant is violated; 2 bad usage or bad input; 3 no verdict (an implementation\n"
    "could not be run, the canary was not caught); 130 interrupted. `poolproof COMMAND --help` says more.\n\n"
    "New here? Run `poolproof demo`.";

/// The command that was being parsed when parsing stopped.
CLI::App* parsed_command(CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? &program : commands.front();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// " (did you mean ...?)" for the first word that nobody expected.
std::string hint_for(const CLI::App& app, const std::vector<std::string>& extras) {
  if (extras.empty()) {
    return {};
  }
  const std::string word = extras.front().substr(0, extras.front().find('='));
  std::vector<std::string> known = option_names(app);
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    known.push_back(command->get_name());
  }
  return nearest_hint(word, known);
}

int usage_error(CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = parsed_command(program);
  const std::string name = command == &program ? "poolproof" : "poolproof " + command->get_name();
  const std::vector<std::string> extras = program.remaining(true);
  const std::string what = extras.empty() ? error.what() : fmt::format("'{}' was not expected", extras.front());
  Console::complain(fmt::format("{}{}; see `{} --help`", what, hint_for(*command, extras), name));
  return exit_usage;
}

int dispatch(CLI::App& program, const std::vector<Command>& commands, int argc, char** argv) {
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    program.exit(asked);
    return exit_holds;
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error);
  }
  const auto chosen =
      std::find_if(commands.begin(), commands.end(), [](const Command& command) { return command.app->parsed(); });
  return chosen->run();
}

}  // namespace

int run_program(int argc, char** argv) {
  ignore_broken_pipes();
  CLI::App program("Finds, shrinks, explains and replays bugs in the KV-cache pool allocators of LLM serving engines",
                   "poolproof");
  program.set_version_flag("--version", fmt::format("poolproof {}", version()));
  program.require_subcommand(1);
  program.footer(footer);
  program.formatter(std::make_shared<HelpFormatter>());  // the subcommands inherit it
  const std::vector<Command> commands{add_check(program),  add_simulate(program), add_replay(program),
                                      add_shrink(program), add_import(program),   add_explain(program),
                                      add_list(program),   add_saver(program),    add_explore(program),
                                      add_zoo(program),    add_demo(program),     add_worker(program)};
  if (argc <= 1) {
    const std::string help = program.help();
    std::fwrite(help.data(), 1, help.size(), stderr);
    return exit_usage;
  }
  try {
    return dispatch(program, commands, argc, argv);
  } catch (const std::bad_alloc&) {
    Console::complain("not enough memory for pools or traces of this size; take smaller ones");
    return exit_no_verdict;
  } catch (const std::exception& error) {  // a fault of ours
    Console::complain(fmt::format("could not go on: {}", error.what()));
    return exit_no_verdict;
  }
}

}  // namespace poolproof::cli
