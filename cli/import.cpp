#include "recording/import.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/json.hpp"
#include "cli/output_options.hpp"
#include "cli/version.hpp"
#include "model/trace_text.hpp"
#include "props/report.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ImportCommandOptions {
  std::vector<std::string> logs;
  std::string out;
  std::string json;
  std::string color = "auto";
  bool until_violation = false;
};

// ---- for people

std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string place_text(const LogFinding& finding) {
  std::string text = fmt::format("{}:{}, ", finding.file, finding.line);
  text += finding.call == "header" ? "header" : fmt::format("call {} ({})", finding.n, finding.call);
  return finding.op == 0 ? text : text + fmt::format(", op {} of the trace", finding.op);
}

std::string finding_text(const LogFinding& finding) {
  std::string text =
      fmt::format("  {}: {}{}{}\n", place_text(finding), finding.id, finding.id.empty() ? "" : ": ", finding.what);
  if (!finding.expected.empty()) {
    text += fmt::format("    expected {}, recorded {}\n", finding.expected, finding.recorded);
  }
  return text;
}

struct Heading {
  LogFindingKind kind;
  std::string_view style;
  std::string_view text;
};

constexpr std::array<Heading, finding_kinds> headings{{
    {LogFindingKind::violation, "1;31", "the log itself shows that the allocator broke an invariant"},
    {LogFindingKind::caller_fault, "1;31", "the log itself shows that a caller broke a protocol rule"},
    {LogFindingKind::left_out, "1", "left out of the trace, which has no op for it"},
    {LogFindingKind::note, "1", "worked out"},
}};

void print_findings(Console& console, const LogFindings& findings) {
  for (const Heading& heading : headings) {
    const std::uint64_t count = findings.count(heading.kind);
    if (count == 0) {
      continue;
    }
    console.print(fmt::format("{} ({}):\n", console.styled(heading.style, heading.text), count));
    for (const LogFinding& finding : findings.kept()) {
      if (finding.kind == heading.kind) {
        console.print(finding_text(finding));
      }
    }
    if (count > LogFindings::most_kept) {
      console.print(fmt::format("  and {} more\n", count - LogFindings::most_kept));
    }
  }
}

void print_next_step(Console& console, const ImportReport& report, const std::string& out) {
  const TextLimits limits;
  if (report.trace_bytes > limits.file_bytes || report.ops > limits.ops) {
    console.print(fmt::format(
        "the trace is larger than replay reads ({} MiB, {} ops): import fewer files, or --until-violation\n",
        limits.file_bytes >> 20U, limits.ops));
  } else if (out != "-") {
    FailureView view;
    view.impl = "host";
    view.trace_file = out;
    console.print(fmt::format("next:\n  {} --census-every 0\n", replay_line(view)));
  }
}

void print_report(Console& console, const ImportReport& report, const std::string& out) {
  const LogHeader& header = report.header;
  console.print(fmt::format("imported {} from {} into {} on {}\n", counted(report.calls, "call"),
                            counted(report.files, "file"), counted(report.ops, "op"), counted(report.rows, "row")));
  console.print(fmt::format("session {}: {}, {}\npool {}\n", header.session, header.engine, header.allocator_class,
                            to_string(header.geometry)));
  if (!header.fresh) {
    console.print("the allocator was in use before: what was lent then is taken up where it first shows\n");
  }
  if (report.missing > 0) {
    console.print(fmt::format("{} missing: the recorder could not keep up, or a file is not here\n",
                              counted(report.missing, "call") + (report.missing == 1 ? " is" : " are")));
  }
  for (const std::string& file : report.cut_files) {
    console.print(
        fmt::format("{} is cut off at its end, as when its writer is killed: what is complete was used\n", file));
  }
  print_findings(console, report.findings);
  if (report.ended_early) {
    console.print("the trace ends there\n");
  }
  if (!report.findings.wrong()) {
    console.print(fmt::format("{}: nothing in the log is wrong by itself\n", console.styled("32", "imported")));
  }
  print_next_step(console, report, out);
}

// ---- for machines

std::string_view kind_name(LogFindingKind kind) {
  constexpr std::array<std::string_view, finding_kinds> names{"violation", "caller_fault", "left_out", "note"};
  return names[static_cast<std::size_t>(kind)];
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json finding_json(const LogFinding& finding) {
  return {{"kind", kind_name(finding.kind)},
          {"id", text_or_null(finding.id)},
          {"file", finding.file},
          {"line", finding.line},
          {"n", finding.n},
          {"call", text_or_null(finding.call)},
          {"op", finding.op == 0 ? Json(nullptr) : Json(finding.op)},
          {"what", finding.what},
          {"expected", text_or_null(finding.expected)},
          {"recorded", text_or_null(finding.recorded)}};
}

std::string report_json(const ImportReport& report, const ImportCommandOptions& options, int status) {
  Json json;
  json["schema"] = json_schema;
  json["program"] = "poolproof";
  json["version"] = version();
  json["command"] = "import";
  json["exit_status"] = status;
  json["logs"] = options.logs;
  json["trace_file"] = options.out;
  json["session"] = report.header.session;
  json["engine"] = report.header.engine;
  json["class"] = report.header.allocator_class;
  json["pool"] = to_string(report.header.geometry);
  json["fresh"] = report.header.fresh;
  json["files"] = report.files;
  json["calls"] = report.calls;
  json["missing_calls"] = report.missing;
  json["ops"] = report.ops;
  json["rows"] = report.rows;
  json["cut_files"] = report.cut_files;
  json["ended_early"] = report.ended_early;
  json["counts"] = Json::object();
  for (const Heading& heading : headings) {
    json["counts"][std::string(kind_name(heading.kind))] = report.findings.count(heading.kind);
  }
  json["findings"] = Json::array();
  for (const LogFinding& finding : report.findings.kept()) {
    json["findings"].push_back(finding_json(finding));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- the command

int finish(const ImportReport& report, const ImportCommandOptions& options, OutputFile& trace,
           std::optional<OutputFile>& json) {
  Console console(options.json == "-" || options.out == "-", color_mode(options.color));
  if (!report.broken.empty()) {
    Console::complain(fmt::format("could not go on: {}", report.broken));
    return exit_no_verdict;
  }
  if (const std::optional<Complaint> complaint = trace.commit({})) {
    return refuse(*complaint);
  }
  print_report(console, report, options.out);
  const int status = report.findings.wrong() ? exit_violated : exit_holds;
  if (json) {
    if (const std::optional<Complaint> complaint = json->commit(report_json(report, options, status))) {
      Console::complain(complaint->message);
      return console.finish(status == exit_holds ? exit_usage : status);
    }
  }
  return console.finish(status);
}

std::optional<Complaint> check_names(const ImportCommandOptions& options) {
  if (!options.json.empty() && options.json == options.out) {
    return Complaint{"-o and --json name the same file; give two"};
  }
  if (std::count(options.logs.begin(), options.logs.end(), "-") > 1) {
    return Complaint{"stdin can be read once; name '-' once"};
  }
  for (const std::string& log : options.logs) {
    if (log == options.out && log != "-") {
      return Complaint{fmt::format("-o names the log {} itself; give the trace another name", log)};
    }
  }
  return std::nullopt;
}

int import(const ImportCommandOptions& options) {
  if (const std::optional<Complaint> complaint = check_names(options)) {
    return refuse(*complaint);
  }
  Result<OutputFile, Complaint> trace = OutputFile::open(options.out);
  if (!trace) {
    return refuse(trace.error());
  }
  std::optional<OutputFile> json;
  if (const std::optional<Complaint> complaint = open_into(json, options.json)) {
    return refuse(*complaint);
  }
  std::optional<Complaint> unwritten;
  const auto sink = [&](std::string_view text) {
    unwritten = trace->write(text);
    return !unwritten;
  };
  const Result<ImportReport, LogFault> report =
      import_logs(options.logs, {.until_violation = options.until_violation}, sink);
  if (!report) {
    const std::string text = report.error().render() + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    return exit_usage;
  }
  if (unwritten) {
    return refuse(*unwritten);
  }
  return finish(*report, options, *trace, json);
}

}  // namespace

Command add_import(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("import", "Turn a recorder's log into a trace, and say what the log shows by itself");
  auto options = std::make_shared<ImportCommandOptions>();
  app->add_option("LOG", options->logs, "Log files of one session, in order (.jsonl or .jsonl.zst); - is stdin")
      ->required()
      ->type_name("");
  app->add_option("-o,--out", options->out, "File for the trace; - is stdout, and text for people goes to stderr")
      ->required()
      ->type_name("TRACE");
  app->add_flag("--until-violation", options->until_violation,
                "End the trace with the first call that breaks an invariant or a rule");
  app->add_option("--json", options->json, "Write what was found as JSON; - as for -o")->type_name("FILE");
  add_color(*app, options->color);
  app->footer(
      "Exit status: 0 imported, and nothing in the log is wrong by itself; 1 the log shows a violation or a caller's\n"
      "fault (the trace is written all the same); 2 bad usage or a malformed log; 3 no verdict.\n\n"
      "Example:\n"
      "  poolproof import engine-4711-00000.jsonl.zst engine-4711-00001.jsonl.zst -o engine.trace");
  return {app, [options] { return import(*options); }};
}

}  // namespace poolproof::cli
