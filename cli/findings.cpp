#include "cli/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/output_file.hpp"
#include "model/trace_text.hpp"

namespace poolproof::cli {
namespace {

std::string trace_comment(const Finding& finding, std::uint64_t seed) {
  const Verdict& verdict = finding.shrunk.verdict;
  const std::string ranks = finding.ranks > 1 ? fmt::format(", {} ranks", finding.ranks) : std::string();
  return fmt::format("{} on {}: {}\nseed {}, trace {}, {} of {} ops{}", cause_id(verdict.cause), finding.impl,
                     verdict.what, seed, finding.trace_index, finding.shrunk.trace.ops.size(),
                     finding.original.ops.size(), ranks);
}

std::optional<Complaint> write_trace(const std::string& folder, const std::string& path, const std::string& text) {
  if (std::optional<Complaint> complaint = make_folder(folder)) {
    return complaint;
  }
  Result<OutputFile, Complaint> file = OutputFile::open(path);
  if (!file) {
    return file.error();
  }
  return file->commit(text);
}

FailureRecord record_of(const Finding& finding, std::uint64_t seed, const std::string& folder) {
  FailureRecord record;
  record.impl = finding.impl;
  record.ranks = finding.ranks;
  record.verdict = finding.shrunk.verdict;
  record.trace = finding.shrunk.trace;
  record.trace_index = finding.trace_index;
  record.original_ops = finding.original.ops.size();
  record.evaluations = finding.shrunk.evaluations;
  record.minimal = finding.shrunk.minimal;
  record.reproduced = finding.reproduced;

  write_failing_trace(record, folder, trace_comment(finding, seed));
  return record;
}

ImplRow row_of(const ImplOutcome& outcome) {
  ImplRow row;
  row.impl = outcome.impl;
  row.ranks = outcome.ranks;
  row.traces = outcome.traces;
  row.ops = outcome.ops;
  row.skipped = outcome.skipped;
  row.error = outcome.could_not_run;
  row.incidents = outcome.incidents;
  if (!outcome.could_not_run.empty()) {
    row.standing = Standing::could_not_run;
  } else if (outcome.finding) {
    row.standing = Standing::violated;
  } else if (!outcome.incidents.empty()) {
    row.standing = Standing::could_not_run;
    row.error = fmt::format("{} of its traces broke down, and held when run again", outcome.incidents.size());
  } else if (outcome.traces == 0) {
    row.standing = Standing::not_run;
  }
  return row;
}

std::string verdict_cell(const Console& console, const ImplRow& row) {
  switch (row.standing) {
    case Standing::holds:
      return console.styled("32", "holds");
    case Standing::could_not_run:
      return console.styled("1;33", "could not be run");
    case Standing::not_run:
      return "not run";
    case Standing::violated:
      break;
  }
  const Verdict& verdict = row.failure->verdict;
  return console.styled("1;31", fmt::format("{}{}", cause_id(verdict.cause), verdict.broke_down() ? "" : " violated"));
}

}  // namespace

void write_failing_trace(FailureRecord& record, const std::string& folder, const std::string& comment) {
  const std::string name = file_name_of(fmt::format("{}-{}.trace", record.impl, cause_id(record.verdict.cause)));
  const std::string path = folder == "." ? name : fmt::format("{}/{}", folder, name);
  const std::string text = print_trace(record.trace, comment);
  if (const std::optional<Complaint> complaint = write_trace(folder, path, text)) {
    Console::complain(complaint->message);
    return;
  }
  record.trace_file = path;
  if (Result<Trace, TextError> written = parse_trace(text, path)) {
    record.trace.lines = std::move(written->lines);
  }
}

std::vector<ImplRow> rows_of(const CampaignReport& report, const Progress& progress, const std::string& folder) {
  std::vector<ImplRow> rows;
  for (const ImplOutcome& outcome : report.outcomes) {
    ImplRow row = row_of(outcome);
    row.seconds = progress.seconds(outcome.impl);
    if (outcome.finding) {
      row.failure = record_of(*outcome.finding, report.seed, folder);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_failures(Console& console, const std::vector<ImplRow>& rows, bool snippets) {
  for (const ImplRow& row : rows) {
    if (row.failure) {
      FailureView view = row.failure->view();
      view.snippet = snippets;
      console.print(explain_failure(view, console.color()) + "\n");
    } else if (row.standing == Standing::could_not_run) {
      console.print(fmt::format("{} could not be run: {}\n\n", row.impl, row.error));
    }
    for (const std::string& incident : row.incidents) {
      console.print(fmt::format("{} broke down once: {}\n", row.impl, incident));
    }
  }
}

void print_table(Console& console, const std::vector<ImplRow>& rows) {
  std::size_t width = std::string_view("implementation").size();
  for (const ImplRow& row : rows) {
    width = std::max(width, row.impl.size());
  }
  std::string table =
      fmt::format("{:<{}}  {:>9}  {:>11}  {:>9}  verdict\n", "implementation", width, "traces", "ops", "ops/s");
  for (const ImplRow& row : rows) {
    const std::string rate = row.seconds > 0 ? short_number(static_cast<double>(row.ops) / row.seconds) : "-";
    table += fmt::format("{:<{}}  {:>9}  {:>11}  {:>9}  {}\n", row.impl, width, row.traces, row.ops, rate,
                         verdict_cell(console, row));
  }
  console.print(table);
}

}  // namespace poolproof::cli
