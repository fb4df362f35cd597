// What explorations show: a table for people, JSON for machines.
#pragma once

#include <string>
#include <vector>

#include "cli/certificate.hpp"
#include "cli/console.hpp"
#include "cli/summary.hpp"
#include "fuzz/explorer/explorer.hpp"

namespace poolproof::cli {

/// One implementation in one scope.
struct ExploreRow {
  std::string impl;
  Scope scope;
  ExploreResult result;
  double seconds = 0;
  std::optional<FailureRecord> failure;  ///< violated
  std::string certificate;               ///< the file that was written; empty: none
  std::string verified;                  ///< the certificate that it was held against; empty: none
  std::vector<std::string> differences;  ///< from that
};

struct ExploreSummary {
  std::vector<ExploreRow> rows;
  std::uint32_t threads = 1;
  int status = 0;
};

/// "token-tiny", or the scope's keys where it has no name.
std::string scope_title(const Scope& scope);

/// The row's own part: 1 violated or differing from its certificate, 3 could not be run or ended before its end, else
/// 0.
int status_of(const ExploreRow& row);

/// Of the rows: 1 before 3, and 3 before 130.
int status_of(const std::vector<ExploreRow>& rows, bool was_interrupted);

/// "all sequences", "up to 9 ops", "violated", ...
std::string covered_text(const ExploreRow& row);

std::string explore_table(const Console& console, const ExploreSummary& summary);
std::string explore_json(const ExploreSummary& summary);

}  // namespace poolproof::cli
