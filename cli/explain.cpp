#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/limits.hpp"
#include "cli/output_options.hpp"
#include "model/geometry.hpp"
#include "recording/explain_message.hpp"

namespace poolproof::cli {
namespace {

constexpr std::size_t longest_message_bytes = std::size_t{64} << 20U;

struct ExplainOptions {
  std::string message;
  Tokens page = 0;
};

Result<std::string, Complaint> read_stdin() {
  std::string text;
  std::string block(std::size_t{1} << 16U, '\0');
  std::size_t count = 0;
  while ((count = std::fread(block.data(), 1, block.size(), stdin)) > 0) {
    text.append(block, 0, count);
    if (text.size() > longest_message_bytes) {
      return Complaint{fmt::format("the message is longer than {} MiB; paste the lines around the error alone",
                                   longest_message_bytes >> 20U)};
    }
  }
  if (std::ferror(stdin) != 0) {
    return Complaint{fmt::format("cannot read stdin: {}", std::strerror(errno))};
  }
  return text;
}

int explain(const ExplainOptions& options) {
  const Result<std::string, Complaint> text =
      options.message == "-" ? read_stdin() : Result<std::string, Complaint>(options.message);
  if (!text) {
    return refuse(text.error());
  }
  const EngineMessage message = read_engine_message(*text);
  if (message.empty()) {
    Console::complain("the message is none that can be explained; these are:\n" + known_messages() +
                      "Paste the whole of it, with the lines before and after.");
    return exit_usage;
  }
  Console console(false, ColorMode::never);
  console.print(explain_engine_message(message, options.page == 0 ? std::nullopt : std::optional(options.page)));
  return console.finish(exit_holds);
}

}  // namespace

Command add_explain(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "explain", "Say what a leak message or an assertion of the engine means, and what to do next");
  auto options = std::make_shared<ExplainOptions>();
  app->add_option("MESSAGE", options->message, "The message, with whatever log text is around it; - is stdin")
      ->required()
      ->type_name("");
  app->add_option("--page", options->page, "Page size in tokens, where the message does not say it")
      ->type_name("N")
      ->check(whole_number(1, max_page_tokens));
  app->footer(
      "Exit status: 0 explained; 2 bad usage, or a message that is not known.\n\n"
      "Example:\n"
      "  poolproof explain --page 64 'AssertionError: SWA Pool Mem Leak Detected! [swa] total=4096, available=4160, "
      "...'");
  return {app, [options] { return explain(*options); }};
}

}  // namespace poolproof::cli
