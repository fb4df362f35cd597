// What `poolproof saver` found, as a table for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "props/saver/saver_cycles.hpp"
#include "props/saver/saver_reading.hpp"

namespace poolproof::cli {

/// The three points of one engine.
struct EnginePoints {
  std::string name;  ///< of its pools; empty: the readings were given
  EngineReading reading;
  EngineVerdict verdict;
};

struct CyclesRow {
  std::string name;
  SaverCycles cycles;
};

/// One implementation's part.
struct SaverImplSummary {
  std::string impl;
  std::string memory;  ///< the memory's name
  std::int64_t granule_bytes = 1;
  bool counts_others = false;  ///< see VirtualMemory::counts_others
  std::vector<SaverReading> pools;
  std::vector<EnginePoints> engines;
  std::vector<CyclesRow> cycles;
};

struct SaverSummary {
  std::vector<SaverImplSummary> impls;
  std::optional<EnginePoints> given;  ///< --reading
  bool expect_all = false;            ///< what stays resident is a violation
  int status = 0;
};

/// Does everything hold that this says of its implementation?
bool holds(const SaverImplSummary& impl, bool expect_all);
bool holds(const EnginePoints& engine, bool expect_all);

std::string saver_table(const SaverImplSummary& impl, bool expect_all);
std::string engine_table(const EnginePoints& engine);
/// What each implementation's pause freed of each pool, where there is more than one to compare; else empty.
std::string freed_matrix(const SaverSummary& summary);

std::string saver_json(const SaverSummary& summary);

}  // namespace poolproof::cli
