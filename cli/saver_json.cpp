#include <nlohmann/json.hpp>

#include "cli/saver_summary.hpp"
#include "cli/version.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning or goes away.
constexpr int schema = 1;

Json row_json(const SaverRow& row) {
  return {{"pool", row.pool == Pool::full ? "full" : "swa"},
          {"part", buffer_part_name(row.part)},
          {"tag", row.tag.empty() ? Json(nullptr) : Json(row.tag)},
          {"buffers", row.buffers},
          {"built_bytes", row.built_bytes},
          {"freed_bytes", row.freed_bytes},
          {"resident_bytes", row.resident_bytes}};
}

Json pool_json(const SaverReading& pool) {
  Json rows = Json::array();
  for (const SaverRow& row : pool.rows) {
    rows.push_back(row_json(row));
  }
  return {{"name", pool.name},
          {"pool", to_string(pool.geometry)},
          {"rows", rows},
          {"planned_bytes", pool.planned_bytes},
          {"taken_bytes", pool.taken_bytes},
          {"freed_bytes", pool.freed_bytes},
          {"resident_bytes", pool.resident_bytes()},
          {"retaken_bytes", pool.retaken_bytes},
          {"returned_bytes", pool.returned_bytes},
          {"pause_s", pool.pause_s},
          {"resume_s", pool.resume_s},
          {"faults", pool.faults}};
}

Json engine_json(const EnginePoints& engine) {
  return {{"name", engine.name.empty() ? Json(nullptr) : Json(engine.name)},
          {"idle_bytes", engine.reading.idle_bytes},
          {"loaded_bytes", engine.reading.loaded_bytes},
          {"released_bytes", engine.reading.released_bytes},
          {"weights_resumed_bytes", engine.reading.weights_bytes},
          {"weights_pausable", engine.verdict.weights_pausable},
          {"pools_pausable", engine.verdict.pools_pausable},
          {"verdict", engine.verdict.what}};
}

Json cycles_json(const CyclesRow& row) {
  const SaverCycles& cycles = row.cycles;
  Json json{{"name", row.name},
            {"cycles", cycles.cycles},
            {"traces", cycles.traces},
            {"ops", cycles.ops},
            {"used_before_bytes", cycles.used_before_bytes},
            {"used_after_bytes", cycles.used_after_bytes}};
  if (cycles.verdict) {
    json["violated"] = cause_id(cycles.verdict->cause);
    json["what"] = cycles.verdict->what;
  }
  return json;
}

template <typename Item, typename Make>
Json list_of(const std::vector<Item>& items, const Make& make) {
  Json list = Json::array();
  for (const Item& item : items) {
    list.push_back(make(item));
  }
  return list;
}

}  // namespace

std::string saver_json(const SaverSummary& summary) {
  Json json{{"schema", schema}, {"command", "saver"}, {"version", version()}, {"expect_all_freed", summary.expect_all}};
  json["impls"] = Json::array();
  for (const SaverImplSummary& impl : summary.impls) {
    json["impls"].push_back({{"impl", impl.impl},
                             {"memory", impl.memory},
                             {"granule_bytes", impl.granule_bytes},
                             {"pools", list_of(impl.pools, pool_json)},
                             {"engines", list_of(impl.engines, engine_json)},
                             {"cycles", list_of(impl.cycles, cycles_json)},
                             {"holds", holds(impl, summary.expect_all)}});
  }
  if (summary.given) {
    json["reading"] = engine_json(*summary.given);
  }
  json["status"] = summary.status;
  return json.dump(2) + "\n";
}

}  // namespace poolproof::cli
