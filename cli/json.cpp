#include "cli/json.hpp"

#include <nlohmann/json.hpp>

#include "cli/simulation_json.hpp"
#include "cli/version.hpp"
#include "model/trace_text.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

Json op_json(const Trace& trace, OpIndex op) {
  Json json{{"number", op}, {"text", op_text(trace, op)}};
  if (op > 0 && op <= trace.lines.size()) {
    json["line"] = trace.lines[op - 1];
  }
  return json;
}

Json histories_json(const Verdict& verdict) {
  Json json = Json::array();
  for (const PageHistory& history : verdict.histories) {
    json.push_back({{"page", page_name(history.pool, history.page)}, {"events", history.events}});
  }
  return json;
}

Json failure_json(const FailureRecord& record) {
  const Verdict& verdict = record.verdict;
  Json json;
  json["cause"] = cause_id(verdict.cause);
  json["statement"] = cause_statement(verdict.cause);
  json["blame"] = cause_blame(verdict.cause);
  json["op"] = op_json(record.trace, verdict.op);
  const bool alone = verdict.other_op == 0 || verdict.other_op == verdict.op;
  json["other_op"] = alone ? Json(nullptr) : op_json(record.trace, verdict.other_op);
  json["what"] = verdict.what;
  json["expected"] = verdict.expected;
  json["seen"] = verdict.seen;
  json["histories"] = histories_json(verdict);
  json["trace"] = print_trace(record.trace);
  json["trace_file"] = record.trace_file.empty() ? Json(nullptr) : Json(record.trace_file);
  json["replay"] = record.trace_file.empty() ? Json(nullptr) : Json(replay_line(record.view()));
  if (record.trace_index) {
    json["trace_index"] = *record.trace_index;
    json["original_ops"] = record.original_ops;
    json["evaluations"] = record.evaluations;
    json["minimal"] = record.minimal;
    json["reproduced"] = record.reproduced;
  }
  return json;
}

Json row_json(const ImplRow& row) {
  Json json;
  json["impl"] = row.impl;
  json["ranks"] = row.ranks;
  json["status"] = standing_name(row.standing);
  json["traces"] = row.traces;
  json["ops"] = row.ops;
  json["skipped"] = row.skipped;
  json["seconds"] = row.seconds;
  json["error"] = row.error.empty() ? Json(nullptr) : Json(row.error);
  if (!row.incidents.empty()) {
    json["incidents"] = row.incidents;
  }
  json["failure"] = row.failure ? failure_json(*row.failure) : Json(nullptr);
  return json;
}

Json campaign_json(const CampaignParameters& campaign) {
  return {{"traces", campaign.traces},
          {"ops", campaign.ops},
          {"census_every", campaign.census_every},
          {"ranks", campaign.ranks},
          {"time_s", campaign.time_s},
          {"shard", {{"index", campaign.shard_index}, {"count", campaign.shard_count}}},
          {"geometries", campaign.geometries}};
}

Json coverage_json(const Coverage& coverage) {
  Json ops = Json::object();
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    ops[std::string(op_word_name(word))] = {{"served", coverage.served(word)}, {"refused", coverage.refused(word)}};
  }
  Json corners = Json::object();
  for (std::size_t i = 0; i < corner_count; ++i) {
    const auto corner = static_cast<Corner>(i);
    corners[std::string(corner_name(corner))] = coverage.corner(corner);
  }
  return {{"ops", ops}, {"corners", corners}, {"missing", coverage.missing()}};
}

}  // namespace

std::string to_json(const Summary& summary) {
  Json json;
  json["schema"] = json_schema;
  json["program"] = "poolproof";
  json["version"] = version();
  json["command"] = summary.command;
  json["exit_status"] = summary.status;
  json["interrupted"] = summary.interrupted;
  if (summary.campaign) {
    json["seed"] = summary.campaign->seed;
    json["campaign"] = campaign_json(*summary.campaign);
    json["canary"] = {{"caught", summary.canary_caught}, {"says", summary.canary_says}};
  }
  if (!summary.trace_file.empty()) {
    json["trace_file"] = summary.trace_file;
  }
  if (summary.simulation) {
    json["simulation"] = simulation_json(*summary.simulation);
  }
  json["results"] = Json::array();
  for (const ImplRow& row : summary.rows) {
    json["results"].push_back(row_json(row));
  }
  if (summary.coverage) {
    json["coverage"] = coverage_json(*summary.coverage);
  }
  // Text from an implementation may be any bytes; what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace poolproof::cli
