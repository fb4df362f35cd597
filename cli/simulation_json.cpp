#include "cli/simulation_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/simulation_page_template.hpp"
#include "cli/version.hpp"
#include "props/workload/features.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field of the page's data changes its meaning or goes away.
constexpr int page_schema = 1;

std::string_view event_name(ServingEventKind kind) {
  switch (kind) {
    case ServingEventKind::refusal:
      return "refusal";
    case ServingEventKind::retraction:
      return "retraction";
    case ServingEventKind::abort:
      return "abort";
  }
  return "";
}

Json counts_json(const ServingCounts& counts) {
  return {{"arrived", counts.arrived},
          {"served", counts.served},
          {"aborted", counts.aborted},
          {"given_up", counts.rejected},
          {"retracted", counts.retracted},
          {"refusals", counts.refusals},
          {"evictions", counts.evictions},
          {"tombstones", counts.tombstones},
          {"recoveries", counts.recoveries},
          {"steps", counts.steps},
          {"prompt_tokens", counts.prompt_tokens},
          {"cached_tokens", counts.cached_tokens},
          {"generated_tokens", counts.generated_tokens},
          {"speculated_in_vain_tokens", counts.rejected_tokens}};
}

Json features_json(const ServingFeatures& features) {
  Json json = Json::array();
  for (const FeatureInfo& feature : serving_features()) {
    if (features.*feature.flag) {
      json.push_back(feature.name);
    }
  }
  return json;
}

/// One kind over time; null where the pool does not have it.
Json series(const PoolCourse& pool, bool has, std::int64_t (*value)(const PoolUse&)) {
  if (!has) {
    return nullptr;
  }
  Json json = Json::array();
  for (const PoolUse& use : pool.uses) {
    json.push_back(value(use));
  }
  return json;
}

Json course_json(const PoolCourse& pool) {
  return {{"name", pool.name},
          {"unit", pool.unit},
          {"size", pool.size},
          {"free", series(pool, true, [](const PoolUse& use) { return use.free; })},
          {"staged", series(pool, pool.sorted, [](const PoolUse& use) { return use.staged.value_or(0); })},
          {"deferred", series(pool, pool.unit == "tokens", [](const PoolUse& use) { return use.deferred; })},
          {"lent", series(pool, true, [](const PoolUse& use) { return use.lent; })},
          {"tombstone", series(pool, pool.tombstones, [](const PoolUse& use) { return use.tombstone; })}};
}

Json marks_json(const SimulationResult& result) {
  Json marks = Json::array();
  for (const ServingEvent& event : result.events) {
    marks.push_back({{"kind", event_name(event.kind)}, {"time_us", event.time_us}, {"text", event.text}});
  }
  if (result.verdict) {
    marks.push_back({{"kind", "violation"},
                     {"time_us", result.end_us},
                     {"text", fmt::format("{}: {}", cause_id(result.verdict->cause), result.verdict->what)}});
  }
  return marks;
}

Json verdict_json(const SimulationResult& result) {
  if (!result.verdict) {
    return nullptr;
  }
  const Verdict& verdict = *result.verdict;
  return {{"id", cause_id(verdict.cause)},
          {"blame", cause_blame(verdict.cause)},
          {"what", verdict.what},
          {"op", verdict.op},
          {"time_us", result.end_us}};
}

Json page_data(const SimulationSummary& summary) {
  const SimulationResult& result = summary.result;
  Json json{{"schema", page_schema},
            {"program", fmt::format("poolproof {}", version())},
            {"workload", summary.workload},
            {"impl", summary.impl},
            {"seed", summary.options.seed},
            {"pool", to_string(summary.options.geometry)},
            {"page", summary.options.geometry.page},
            {"end_us", result.end_us},
            {"verdict", verdict_json(result)}};
  json["totals"] = Json::array();
  for (const SimulationFigure& figure : simulation_figures(summary)) {
    json["totals"].push_back({figure.label, figure.text});
  }
  json["pools"] = Json::array();
  for (const PoolCourse& pool : result.timeline.pools()) {
    json["pools"].push_back(course_json(pool));
  }
  json["time_us"] = Json::array();
  json["running"] = Json::array();
  json["waiting"] = Json::array();
  for (const ServingMoment& moment : result.timeline.moments()) {
    json["time_us"].push_back(moment.time_us);
    json["running"].push_back(moment.running);
    json["waiting"].push_back(moment.waiting);
  }
  json["marks"] = marks_json(result);
  return json;
}

/// Inside of a script element '<' can begin an end tag, or a comment that hides one.
std::string without_tags(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Json simulation_json(const SimulationSummary& summary) {
  const ServingOptions& options = summary.options;
  const SimulationResult& result = summary.result;
  Json json{{"workload", summary.workload},
            {"format", summary.format},
            {"skipped_rows", summary.skipped_rows},
            {"seed", options.seed},
            {"pool", to_string(options.geometry)},
            {"features", features_json(options.features)},
            {"speculate", options.speculate},
            {"chunk_tokens", options.chunk_tokens},
            {"max_running", options.max_running},
            {"speed_permille", options.speed_permille},
            {"simulated_us", result.end_us},
            {"censuses", result.censuses},
            {"stopped", result.stopped},
            {"counts", counts_json(result.counts)},
            {"fragmentation_percent",
             {{"mean", result.timeline.mean_fragmentation_percent()},
              {"peak", result.timeline.peak_fragmentation_percent()}}}};
  json["pools"] = Json::array();
  for (const PoolCourse& pool : result.timeline.pools()) {
    json["pools"].push_back(
        {{"name", pool.name}, {"unit", pool.unit}, {"size", pool.size}, {"peak", pool.peak}, {"mean", pool.mean}});
  }
  return json;
}

std::string simulation_page(const SimulationSummary& summary) {
  constexpr std::string_view placeholder = "\"POOLPROOF_DATA\"";
  const std::string data = without_tags(page_data(summary).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string page(simulation_page_template);
  page.replace(page.find(placeholder), placeholder.size(), data);
  return page;
}

}  // namespace poolproof::cli
