// A campaign: many random traces on many implementations and geometries, findings shrunk, coverage counted. What
// `poolproof check` runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "impl/registry.hpp"
#include "props/coverage.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"
#include "props/shrink.hpp"

namespace poolproof {

/// Where a campaign stands; handed to CampaignOptions::progress now and then.
struct CampaignProgress {
  std::string impl;
  std::uint64_t traces_done = 0;
  std::uint64_t traces_total = 0;  ///< 0 when bounded by time alone
  std::uint64_t ops = 0;
};

struct CampaignOptions {
  std::vector<const ImplInfo*> impls;
  std::vector<NamedGeometry> geometries;  ///< empty: all named ones of the implementation's kind; traces go round them
  bool vary = true;                       ///< vary sizes a trace; false: exactly the geometries given
  std::uint64_t traces = 2000;            ///< an implementation, over all shards; 0: until `stop` says so
  std::uint32_t ops = 120;                ///< ops a trace
  std::uint64_t seed = 1;
  std::uint32_t census_every = 64;
  std::uint32_t ranks = 1;        ///< replicas of each implementation at least (impl/ranks.hpp)
  std::uint32_t shard_index = 0;  ///< runs trace indices i with i % shard_count == shard_index
  std::uint32_t shard_count = 1;
  bool guided = false;  ///< go on from traces that reached new states (props/guide.hpp), each shard from its own
  const ImplInfo* canary = nullptr;  ///< null: the built-in one
  std::function<bool()> stop;        ///< asked between traces (time limit, SIGINT); ends an implementation's run
  /// Called with traces_done = 0 when an implementation begins, then after each of its traces, before a finding is
  /// shrunk.
  std::function<void(const CampaignProgress&)> progress;
  ShrinkOptions shrink;
};

/// One violation, shrunk.
struct Finding {
  std::string impl;
  std::uint32_t ranks = 1;        ///< replicas that it was found with
  std::uint64_t trace_index = 0;  ///< which trace of the seed
  Trace original;                 ///< as generated, up to the failing op
  Verdict original_verdict;
  ShrinkResult shrunk;
  /// It failed again when it was run again. False: the implementation is not deterministic, and `shrunk` is the
  /// original.
  bool reproduced = true;
};

struct ImplOutcome {
  std::string impl;
  std::uint32_t ranks = 1;  ///< replicas that were run
  std::uint64_t traces = 0;
  std::uint64_t ops = 0;
  std::uint64_t skipped = 0;           ///< traces on geometries that the implementation does not support
  std::optional<Finding> finding;      ///< the first; the implementation's campaign ends with it
  std::string could_not_run;           ///< not empty: it could not be built, or failed a call
  std::vector<std::string> incidents;  ///< breakdowns that did not come back; the campaign went on
  Coverage coverage;
};

struct CampaignReport {
  std::uint64_t seed = 0;
  std::vector<ImplOutcome> outcomes;
  bool canary_caught = false;  ///< the canary ran first on the same seed; if not caught, nothing else was run
  std::string canary_says;     ///< how it was caught, or why not
  bool stopped = false;        ///< some implementation's run was ended by CampaignOptions::stop
};

/// Traces go round the geometries: trace i of a seed is drawn from geometry i % n, whatever the implementation. Indices
/// whose geometry an implementation does not support are passed over and do not count towards `traces`. Guided, a trace
/// may go on from an earlier one instead, on that one's geometry, and end early.
CampaignReport run_campaign(const CampaignOptions& options);

/// The trace of one index, as the campaign generates it for the first implementation (recorded while running on
/// `host`).
Trace campaign_trace(const CampaignOptions& options, std::uint64_t trace_index);

}  // namespace poolproof
