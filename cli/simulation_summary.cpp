#include "cli/simulation_summary.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/progress.hpp"

namespace poolproof::cli {
namespace {

std::string grouped(std::int64_t number) { return cli::grouped(static_cast<std::uint64_t>(number)); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string clock_text(std::uint64_t time_us) {
  const std::uint64_t seconds = time_us / 1'000'000;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string use_text(const PoolCourse& pool) {
  return fmt::format("peak {} of {} {} ({}), mean {} ({})", grouped(pool.peak), grouped(pool.size), pool.unit,
                     percent(share_of(pool.peak, pool.size)), grouped(pool.mean),
                     percent(share_of(pool.mean, pool.size)));
}

std::string invariants_text(const SimulationResult& result) {
  if (result.verdict) {
    return fmt::format("{} does not hold, op {}", cause_id(result.verdict->cause), result.verdict->op);
  }
  return fmt::format("all hold, after each op; lists and mapping at {} census{}", cli::grouped(result.censuses),
                     result.censuses == 1 ? "" : "es");
}

void add_requests(const SimulationSummary& summary, std::vector<SimulationFigure>& figures) {
  const ServingCounts& counts = summary.result.counts;
  figures.push_back(
      {"requests served", fmt::format("{} of {}", cli::grouped(counts.served), cli::grouped(counts.arrived))});
  figures.push_back({"aborted", cli::grouped(counts.aborted)});
  figures.push_back({"given up", counts.rejected == 0
                                     ? "0"
                                     : fmt::format("{}, which the pools cannot hold", cli::grouped(counts.rejected))});
  figures.push_back({"retracted", cli::grouped(counts.retracted)});
  figures.push_back({"refusals", cli::grouped(counts.refusals)});
  figures.push_back({"prompt tokens", fmt::format("{}, {} of them cached", grouped(counts.prompt_tokens),
                                                  percent(share_of(counts.cached_tokens, counts.prompt_tokens)))});
  figures.push_back({"generated tokens", grouped(counts.generated_tokens)});
  if (summary.options.speculate > 0) {
    figures.push_back({"speculated in vain", grouped(counts.rejected_tokens) + " tokens"});
  }
}

void add_pools(const SimulationSummary& summary, std::vector<SimulationFigure>& figures) {
  const SimulationResult& result = summary.result;
  for (const PoolCourse& pool : result.timeline.pools()) {
    figures.push_back({std::string(pool.name), use_text(pool)});
  }
  figures.push_back({"fragmentation", fmt::format("mean {:.2f} %, peak {:.2f} % of what is lent",
                                                  result.timeline.mean_fragmentation_percent(),
                                                  result.timeline.peak_fragmentation_percent())});
  figures.push_back({"cache evictions", cli::grouped(result.counts.evictions)});
  if (summary.options.geometry.paired()) {
    figures.push_back({"tombstones", fmt::format("{} made, {} recovered", cli::grouped(result.counts.tombstones),
                                                 cli::grouped(result.counts.recoveries))});
  }
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::vector<SimulationFigure> simulation_figures(const SimulationSummary& summary) {
  const SimulationResult& result = summary.result;
  std::vector<SimulationFigure> figures;
  add_requests(summary, figures);
  add_pools(summary, figures);
  if (summary.skipped_rows > 0) {
    figures.push_back({"malformed rows", cli::grouped(summary.skipped_rows) + " left out"});
  }
  figures.push_back(
      {"simulated time", fmt::format("{} in {} steps", clock_text(result.end_us), cli::grouped(result.counts.steps))});
  std::string ops = cli::grouped(result.ops);
  if (summary.seconds > 0) {
    ops += fmt::format(" in {:.1f} s, {} ops/s", summary.seconds,
                       short_number(static_cast<double>(result.ops) / summary.seconds));
  }
  figures.push_back({"ops", ops});
  figures.push_back({"invariants", invariants_text(result)});
  return figures;
}

}  // namespace poolproof::cli
