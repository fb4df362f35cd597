#include "cli/explore_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_status.hpp"
#include "cli/progress.hpp"
#include "cli/version.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning or goes away.
constexpr int schema = 1;

std::string_view end_name(ExploreEnd end) {
  switch (end) {
    case ExploreEnd::exhausted:
      return "exhausted";
    case ExploreEnd::depth:
      return "depth";
    case ExploreEnd::violated:
      return "violated";
    case ExploreEnd::memory:
      return "memory";
    case ExploreEnd::stopped:
      return "stopped";
    case ExploreEnd::could_not_run:
      break;
  }
  return "could_not_run";
}

std::string coloured(const Console& console, const ExploreRow& row) {
  const std::string text = covered_text(row);
  switch (status_of(row)) {
    case exit_holds:
      return console.styled("32", text);
    case exit_violated:
      return console.styled("1;31", text);
    default:
      return console.styled("1;33", text);
  }
}

Json json_of(const ExploreRow& row) {
  const ExploreResult& result = row.result;
  Json json{{"impl", row.impl},
            {"scope", to_string(row.scope)},
            {"scope_name", row.scope.name},
            {"end", end_name(result.end)},
            {"ops", result.moves},
            {"depth", result.depth},
            {"states", result.states},
            {"transitions", result.transitions},
            {"refused", result.refused},
            {"sequences_at_least", result.sequences},
            {"sequences_overflow", result.sequences_overflow},
            {"states_by_depth", result.layers},
            {"chance_of_a_missed_state", chance_of_a_missed_state(result.states)},
            {"bytes", result.bytes},
            {"seconds", row.seconds},
            {"error", result.error}};
  if (row.failure) {
    json["cause"] = cause_id(row.failure->verdict.cause);
    json["trace_ops"] = row.failure->trace.ops.size();
    json["trace_file"] = row.failure->trace_file;
  }
  json["certificate"] = row.certificate;
  json["verified"] = row.verified;
  json["differences"] = row.differences;
  json["status"] = status_of(row);
  return json;
}

}  // namespace

std::string scope_title(const Scope& scope) { return scope.name.empty() ? to_string(scope) : scope.name; }

int status_of(const ExploreRow& row) {
  switch (row.result.end) {
    case ExploreEnd::exhausted:
    case ExploreEnd::depth:
      return row.differences.empty() ? exit_holds : exit_violated;
    case ExploreEnd::violated:
      return exit_violated;
    case ExploreEnd::stopped:
      return exit_interrupted;
    case ExploreEnd::memory:
    case ExploreEnd::could_not_run:
      break;
  }
  return exit_no_verdict;
}

int status_of(const std::vector<ExploreRow>& rows, bool was_interrupted) {
  const auto any = [&](int status) {
    return std::any_of(rows.begin(), rows.end(), [&](const ExploreRow& row) { return status_of(row) == status; });
  };
  for (const int status : {exit_violated, exit_no_verdict}) {
    if (any(status)) {
      return status;
    }
  }
  return was_interrupted || any(exit_interrupted) ? exit_interrupted : exit_holds;
}

std::string covered_text(const ExploreRow& row) {
  const std::uint32_t depth = row.result.depth;
  const std::string some = fmt::format("up to {} op{}", depth, depth == 1 ? "" : "s");
  switch (row.result.end) {
    case ExploreEnd::exhausted:
      return row.differences.empty() ? "holds: all sequences" : "differs from its certificate";
    case ExploreEnd::depth:
      return row.differences.empty() ? "holds: " + some : "differs from its certificate";
    case ExploreEnd::violated:
      return fmt::format("{} violated, {} op{}", cause_id(row.result.verdict->cause), row.result.trace.ops.size(),
                         row.result.trace.ops.size() == 1 ? "" : "s");
    case ExploreEnd::memory:
      return "out of memory: holds " + some;
    case ExploreEnd::stopped:
      return "interrupted: holds " + some;
    case ExploreEnd::could_not_run:
      break;
  }
  return "could not be run";
}

std::string explore_table(const Console& console, const ExploreSummary& summary) {
  std::size_t impl_width = std::string_view("implementation").size();
  std::size_t scope_width = std::string_view("scope").size();
  constexpr std::size_t widest_scope = 24;
  for (const ExploreRow& row : summary.rows) {
    impl_width = std::max(impl_width, row.impl.size());
    scope_width = std::max(scope_width, std::min(widest_scope, scope_title(row.scope).size()));
  }
  std::string table = fmt::format("{:<{}}  {:<{}}  {:>10}  {:>12}  {:>10}  covered\n", "implementation", impl_width,
                                  "scope", scope_width, "states", "transitions", "per second");
  for (const ExploreRow& row : summary.rows) {
    std::string title = scope_title(row.scope);
    if (title.size() > widest_scope) {
      title = title.substr(0, widest_scope - 3) + "...";
    }
    const double rate = row.seconds > 0 ? static_cast<double>(row.result.transitions) / row.seconds : 0;
    table += fmt::format("{:<{}}  {:<{}}  {:>10}  {:>12}  {:>10}  {}\n", row.impl, impl_width, title, scope_width,
                         row.result.states, row.result.transitions, short_number(rate), coloured(console, row));
  }
  return table;
}

std::string explore_json(const ExploreSummary& summary) {
  Json json{{"schema", schema}, {"command", "explore"}, {"version", version()}, {"threads", summary.threads}};
  json["runs"] = Json::array();
  for (const ExploreRow& row : summary.rows) {
    json["runs"].push_back(json_of(row));
  }
  json["status"] = summary.status;
  return json.dump(2) + "\n";
}

}  // namespace poolproof::cli
