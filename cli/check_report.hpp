// What `poolproof check` makes of a campaign: files, text for people, a summary with the exit status.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "cli/summary.hpp"

namespace poolproof::cli {

struct CheckReportOptions {
  std::string out = "poolproof-out";  ///< folder for shrunk traces
  double time_s = 0;                  ///< time limit an implementation, 0 = none
  bool coverage = false;              ///< print what was exercised
  bool capabilities = false;          ///< print what external implementations offer
  bool require_coverage = false;      ///< hold the campaign to it
};

/// Writes the traces, prints reports and table, and answers the summary.
Summary report_check(Console& console, const CheckReportOptions& options, const CampaignOptions& campaign,
                     const CampaignReport& report, const Progress& progress);

}  // namespace poolproof::cli
