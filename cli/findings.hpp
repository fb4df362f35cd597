// From a campaign's report to rows and reports: findings are written as traces and explained.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "cli/summary.hpp"

namespace poolproof::cli {

/// Writes the record's trace to FOLDER/IMPL-CAUSE.trace, over an older one, with `comment` on top, and takes the file's
/// name and lines into the record; when that fails stderr says why and the record names no file.
void write_failing_trace(FailureRecord& record, const std::string& folder, const std::string& comment);

/// Rows of the campaign. Each finding's shrunk trace is written to FOLDER/IMPL-CAUSE.trace, over an older one; when
/// that fails stderr says why and the record names no file.
std::vector<ImplRow> rows_of(const CampaignReport& report, const Progress& progress, const std::string& folder);

/// The explanations of all failures, and why an implementation could not be run.
void print_failures(Console& console, const std::vector<ImplRow>& rows, bool snippets);

/// implementation, traces, ops, ops/s, verdict.
void print_table(Console& console, const std::vector<ImplRow>& rows);

}  // namespace poolproof::cli
