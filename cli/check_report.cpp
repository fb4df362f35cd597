#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/coverage_table.hpp"
#include "cli/exit_status.hpp"
#include "cli/findings.hpp"
#include "cli/interrupt.hpp"

namespace poolproof::cli {
namespace {

CampaignParameters parameters_of(const CampaignOptions& campaign, const CheckReportOptions& options) {
  CampaignParameters parameters{campaign.seed,         campaign.traces, campaign.ops,
                                campaign.census_every, campaign.ranks,  campaign.shard_index,
                                campaign.shard_count,  options.time_s,  {}};
  for (const NamedGeometry& geometry : campaign.geometries) {
    parameters.geometries.push_back(geometry.name);
  }
  return parameters;
}

Coverage merged_coverage(const CampaignReport& report) {
  Coverage coverage;
  for (const ImplOutcome& outcome : report.outcomes) {
    coverage.merge(outcome.coverage);
  }
  return coverage;
}

/// Says what is missing from a coverage that was required; answers whether nothing is.
bool covered(const Coverage& coverage) {
  const std::vector<std::string> missing = coverage.missing();
  if (!missing.empty()) {
    constexpr std::size_t most = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(most, missing.size()); ++i) {
      list += fmt::format("{}{}", i == 0 ? "" : ", ", missing[i]);
    }
    Console::complain(fmt::format("--require-coverage: {} not exercised: {}{}; give more --traces or --ops",
                                  missing.size(), list, missing.size() > most ? ", ..." : ""));
  }
  return missing.empty();
}

}  // namespace

Summary report_check(Console& console, const CheckReportOptions& options, const CampaignOptions& campaign,
                     const CampaignReport& report, const Progress& progress) {
  Summary summary;
  summary.command = "check";
  summary.campaign = parameters_of(campaign, options);
  summary.canary_caught = report.canary_caught;
  summary.canary_says = report.canary_says;
  summary.interrupted = interrupted();
  if (!report.canary_caught) {
    Console::complain(
        fmt::format("the canary was not caught, so this campaign proves nothing and was not run: {}; give "
                    "more --ops or other geometries",
                    report.canary_says));
    summary.status = exit_no_verdict;
    return summary;
  }
  console.print(fmt::format("canary {}\n\n", report.canary_says));
  summary.rows = rows_of(report, progress, options.out);
  summary.status = status_of(summary.rows, summary.interrupted);
  print_failures(console, summary.rows, true);
  print_table(console, summary.rows);
  if (options.coverage || options.require_coverage) {
    summary.coverage = merged_coverage(report);
  }
  if (options.coverage) {
    console.print("\n" + coverage_table(*summary.coverage));
  }
  // What was interrupted is not held to it.
  if (options.require_coverage && !summary.interrupted && !covered(*summary.coverage)) {
    summary.status = summary.status == exit_holds ? exit_no_verdict : summary.status;
  }
  if (summary.interrupted) {
    Console::complain("interrupted; the results above are what was found until then");
  }
  return summary;
}

}  // namespace poolproof::cli
