// The options of every command that makes a verdict: --color, --json, --junit; and the files behind them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/complaint.hpp"
#include "cli/console.hpp"
#include "cli/output_file.hpp"
#include "cli/summary.hpp"
#include "model/result.hpp"
#include "model/trace_text.hpp"

namespace CLI {
class App;
}

namespace poolproof::cli {

struct OutputOptions {
  std::string color = "auto";
  std::string json;   ///< empty: none
  std::string junit;  ///< empty: none

  [[nodiscard]] Console console() const;
};

void add_color(CLI::App& app, std::string& color);
/// Of add_color's value.
ColorMode color_mode(const std::string& name);
/// --color, --json and --junit.
void add_output_options(CLI::App& app, OutputOptions& options);

/// The files that were asked for, opened before the work begins.
class OutputFiles {
 public:
  static Result<OutputFiles, Complaint> open(const OutputOptions& options);
  /// Writes them and answers the exit status: the summary's, unless a file could not be written.
  int finish(const Summary& summary, const Console& console);

 private:
  std::optional<OutputFile> json_;
  std::optional<OutputFile> junit_;
};

/// Writes a file that was asked for and gives it its name; false, and the reason on stderr, when it could not be.
bool write_asked(std::optional<OutputFile>& file, const std::string& content);

/// Says it on stderr; answers the exit status.
int refuse(const Complaint& complaint);
/// The same of a trace's text; it begins with "file:line:column:", as editors like it.
int refuse_text(const TextError& error);

}  // namespace poolproof::cli
