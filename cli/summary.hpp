// What a command found, as values: printed for people, and written as JSON and JUnit for machines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ops.hpp"
#include "model/verdict.hpp"
#include "props/campaign.hpp"
#include "props/report.hpp"

namespace poolproof::cli {

/// One failure, as it is shown.
struct FailureRecord {
  std::string impl;
  std::uint32_t ranks = 1;  ///< replicas that it was run on
  Verdict verdict;
  Trace trace;
  std::string trace_file;                    ///< empty: in no file
  std::optional<std::uint64_t> trace_index;  ///< of a campaign: which trace of the seed
  std::size_t original_ops = 0;              ///< before shrinking
  std::uint64_t evaluations = 0;             ///< runs that shrinking took
  bool minimal = false;                      ///< shrinking came to its end
  bool reproduced = true;                    ///< it failed again when it was run again

  /// Valid as long as this record is.
  [[nodiscard]] FailureView view() const;
};

enum class Standing : std::uint8_t { holds, violated, could_not_run, not_run };
std::string_view standing_name(Standing standing);

/// One implementation's part.
struct ImplRow {
  std::string impl;
  std::uint32_t ranks = 1;  ///< replicas that were run
  Standing standing = Standing::holds;
  std::uint64_t traces = 0;
  std::uint64_t ops = 0;
  std::uint64_t skipped = 0;
  double seconds = 0;
  std::string error;                   ///< could_not_run: why
  std::vector<std::string> incidents;  ///< breakdowns that did not come back
  std::optional<FailureRecord> failure;
};

/// What a campaign was asked for.
struct CampaignParameters {
  std::uint64_t seed = 0;
  std::uint64_t traces = 0;
  std::uint32_t ops = 0;
  std::uint32_t census_every = 0;
  std::uint32_t ranks = 1;
  std::uint32_t shard_index = 0;
  std::uint32_t shard_count = 1;
  double time_s = 0;                    ///< 0 = no limit
  std::vector<std::string> geometries;  ///< empty: all
};

struct SimulationSummary;

struct Summary {
  std::string command;
  std::vector<ImplRow> rows;
  bool interrupted = false;
  int status = 0;
  std::string trace_file;  ///< replay: what was replayed

  // Of a campaign.
  std::optional<CampaignParameters> campaign;
  bool canary_caught = false;
  std::string canary_says;
  std::optional<Coverage> coverage;

  /// Of a simulation: it holds what the table and the picture show.
  std::shared_ptr<const SimulationSummary> simulation;
};

/// From the rows alone: violated before could_not_run before interrupted before holds.
int status_of(const std::vector<ImplRow>& rows, bool interrupted);

}  // namespace poolproof::cli
