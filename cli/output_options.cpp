#include "cli/output_options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "cli/exit_status.hpp"
#include "cli/json.hpp"
#include "cli/junit.hpp"

namespace poolproof::cli {

bool write_asked(std::optional<OutputFile>& file, const std::string& content) {
  if (file) {
    if (const std::optional<Complaint> complaint = file->commit(content)) {
      Console::complain(complaint->message);
      return false;
    }
  }
  return true;
}

ColorMode color_mode(const std::string& name) {
  if (name == "always") {
    return ColorMode::always;
  }
  return name == "never" ? ColorMode::never : ColorMode::automatic;
}

Console OutputOptions::console() const { return Console(json == "-" || junit == "-", color_mode(color)); }

void add_color(CLI::App& app, std::string& color) {
  app.add_option("--color", color, "Colour: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_option("--json", options.json, "Write the results as JSON; - is stdout, and text for people goes to stderr")
      ->type_name("FILE");
  app.add_option("--junit", options.junit, "Write the results as JUnit XML; - as for --json")->type_name("FILE");
  add_color(app, options.color);
}

Result<OutputFiles, Complaint> OutputFiles::open(const OutputOptions& options) {
  if (!options.json.empty() && options.json == options.junit) {
    return Complaint{"--json and --junit name the same file; give two"};
  }
  OutputFiles files;
  if (std::optional<Complaint> complaint = open_into(files.json_, options.json)) {
    return *std::move(complaint);
  }
  if (std::optional<Complaint> complaint = open_into(files.junit_, options.junit)) {
    return *std::move(complaint);
  }
  return files;
}

int OutputFiles::finish(const Summary& summary, const Console& console) {
  const bool json_written = write_asked(json_, json_ ? to_json(summary) : std::string());
  const bool junit_written = write_asked(junit_, junit_ ? to_junit(summary) : std::string());
  const bool lost = !json_written || !junit_written;
  return console.finish(lost && summary.status == exit_holds ? exit_usage : summary.status);
}

int refuse(const Complaint& complaint) {
  Console::complain(complaint.message);
  return complaint.status;
}

int refuse_text(const TextError& error) {
  const std::string text = error.render() + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return exit_usage;
}

}  // namespace poolproof::cli
