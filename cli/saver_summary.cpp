#include "cli/saver_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "props/wrapped.hpp"

namespace poolproof::cli {
namespace {

constexpr double gib = 1073741824;

std::string buffers_name(const SaverRow& row) {
  return fmt::format("{}.{}", row.pool == Pool::full ? "full" : "swa", buffer_part_name(row.part));
}

std::string time_text(double seconds, std::int64_t bytes) {
  const double ms = seconds * 1000;
  if (bytes == 0) {
    return fmt::format("{:.2f} ms", ms);
  }
  return fmt::format("{:.2f} ms ({:.2f} ms a GiB)", ms, ms / (static_cast<double>(bytes) / gib));
}

/// `each`: what one buffer holds.
std::string line(std::string_view name, std::string_view tag, std::int64_t count, std::string_view each,
                 std::int64_t built, std::int64_t freed, std::int64_t resident, std::string_view verdict) {
  return fmt::format("  {:<13} {:<9} {:>5}  {:>10}  {:>10}  {:>10}  {:>10}  {}\n", name, tag, count, each,
                     size_text(built), size_text(freed), size_text(resident), verdict);
}

std::string row_verdict(const SaverRow& row, const SaverReading& pool) {
  if (pool.geometry.kv.saver == SaverMode::off) {
    return "saver off";
  }
  return row.resident_bytes == 0 ? "freed" : "STAYS RESIDENT";
}

std::string pool_verdict(const SaverReading& pool) {
  if (pool.geometry.kv.saver == SaverMode::off) {
    return pool.freed_bytes == 0 ? "nothing touched" : "TOUCHED";
  }
  if (pool.freed_bytes == 0) {
    return "NOTHING FREED";
  }
  return pool.resident_bytes() == 0 ? "all freed" : fmt::format("{} STAYS", size_text(pool.resident_bytes()));
}

std::string pool_table(const SaverReading& pool) {
  std::string out = fmt::format("\n{}  {}\n", pool.name, to_string(pool.geometry));
  out += fmt::format("  {:<13} {:<9} {:>5}  {:>10}  {:>10}  {:>10}  {:>10}  {}\n", "buffers", "tag", "count", "each",
                     "built", "freed", "resident", "verdict");
  std::int64_t count = 0;
  for (const SaverRow& row : pool.rows) {
    count += row.buffers;
    out +=
        line(buffers_name(row), row.tag.empty() ? "-" : row.tag, row.buffers, size_text(row.built_bytes / row.buffers),
             row.built_bytes, row.freed_bytes, row.resident_bytes, row_verdict(row, pool));
  }
  out += line("by the device", "", count, "", pool.planned_bytes, pool.freed_bytes, pool.resident_bytes(),
              pool_verdict(pool));
  out += fmt::format("  pause {}, resume {}\n", time_text(pool.pause_s, pool.freed_bytes),
                     time_text(pool.resume_s, pool.retaken_bytes));
  if (pool.holds() && pool.freed_bytes > 0) {
    out += "  resumed: same addresses, zero, writable; destroyed: every byte came back\n";
  }
  for (const std::string& fault : pool.faults) {
    out += fmt::format("  VIOLATED: {}\n", fault);
  }
  return out;
}

std::string cycles_table(const CyclesRow& row, const std::string& impl) {
  const SaverCycles& cycles = row.cycles;
  std::string out = fmt::format("\n{}  {} cycles of pause and resume in {} traces, {} ops\n", row.name, cycles.cycles,
                                cycles.traces, cycles.ops);
  out += fmt::format(
      "  used before {}, after {} ({})\n", size_text(cycles.used_before_bytes), size_text(cycles.used_after_bytes),
      cycles.leaked() ? fmt::format("LEAKED {} bytes", cycles.used_after_bytes - cycles.used_before_bytes)
                      : "the same byte count");
  if (cycles.verdict) {
    out += fmt::format("  VIOLATED: {} at op {}: {}\n", cause_id(cycles.verdict->cause), cycles.verdict->op,
                       cycles.verdict->what);
    out += fmt::format("  shrunk and explained by: poolproof check --impl {}\n", impl);
  }
  return out;
}

}  // namespace

bool holds(const EnginePoints& engine, bool expect_all) {
  return !expect_all || (engine.verdict.pools_pausable && engine.verdict.weights_pausable);
}

bool holds(const SaverImplSummary& impl, bool expect_all) {
  const bool pools = std::all_of(impl.pools.begin(), impl.pools.end(), [&](const SaverReading& pool) {
    return pool.holds() && (!expect_all || pool.resident_bytes() == 0);
  });
  const bool engines = std::all_of(impl.engines.begin(), impl.engines.end(),
                                   [&](const EnginePoints& engine) { return holds(engine, expect_all); });
  const bool cycles = std::all_of(impl.cycles.begin(), impl.cycles.end(),
                                  [](const CyclesRow& row) { return !row.cycles.verdict && !row.cycles.leaked(); });
  return pools && engines && cycles;
}

namespace {

std::string closing_line(const SaverImplSummary& impl, bool expect_all) {
  std::int64_t resident = 0;
  for (const SaverReading& pool : impl.pools) {
    resident += pool.geometry.kv.saver == SaverMode::off ? 0 : pool.resident_bytes();
  }
  const bool all_hold = holds(impl, expect_all);
  if (expect_all) {
    return fmt::format("everything is expected to be freed: {}", all_hold ? "holds" : "VIOLATED");
  }
  if (all_hold && resident > 0) {
    return fmt::format("{} stay resident; --expect-freed all makes that a violation", size_text(resident));
  }
  return all_hold ? "holds" : "VIOLATED";
}

}  // namespace

std::string saver_table(const SaverImplSummary& impl, bool expect_all) {
  std::string out = fmt::format("{} on {}, granule {}\n", impl.impl, impl.memory, size_text(impl.granule_bytes));
  for (const SaverReading& pool : impl.pools) {
    out += pool_table(pool);
  }
  for (const EnginePoints& engine : impl.engines) {
    out += engine_table(engine);
  }
  for (const CyclesRow& row : impl.cycles) {
    out += cycles_table(row, impl.impl);
  }
  out += fmt::format("\n{}\n", closing_line(impl, expect_all));
  if (impl.counts_others && !holds(impl, expect_all)) {
    out += "the device's count is that of all its processes: let nothing else run on it meanwhile\n";
  }
  return out;
}

std::string engine_table(const EnginePoints& engine) {
  std::string out =
      engine.name.empty() ? std::string("an engine's readings\n") : fmt::format("\n{}  an engine\n", engine.name);
  const auto point = [&](std::string_view when, std::int64_t bytes) {
    out += fmt::format("  {:<34}  {:>11}\n", when, size_text(bytes));
  };
  if (engine.reading.idle_bytes > 0) {
    point("used before load", engine.reading.idle_bytes);
  }
  point("used after load", engine.reading.loaded_bytes);
  point("used after releasing all", engine.reading.released_bytes);
  point("used after resuming the weights", engine.reading.weights_bytes);
  for (const std::string& text : wrapped(engine.verdict.what, 100)) {
    out += fmt::format("  {}\n", text);
  }
  return out;
}

std::string freed_matrix(const SaverSummary& summary) {
  if (summary.impls.size() < 2 || summary.impls.front().pools.empty()) {
    return {};
  }
  std::string out = fmt::format("\n{:<34}", "freed by a pause");
  for (const SaverReading& pool : summary.impls.front().pools) {
    out += fmt::format("  {:>11}", pool.name);
  }
  out += '\n';
  for (const SaverImplSummary& impl : summary.impls) {
    out += fmt::format("{:<34}", impl.impl);
    for (const SaverReading& pool : impl.pools) {
      out += fmt::format("  {:>11}", size_text(pool.freed_bytes));
    }
    out += '\n';
  }
  return out;
}

}  // namespace poolproof::cli
