// What `poolproof simulate` was asked and what came of it, as values for the table, the JSON and the page.
#pragma once

#include <string>
#include <vector>

#include "props/workload/simulation.hpp"

namespace poolproof::cli {

struct SimulationSummary {
  std::string workload;  ///< as it was named
  std::string format;
  std::uint64_t skipped_rows = 0;  ///< malformed, left out by --lenient
  std::string impl;
  ServingOptions options;
  SimulationResult result;
  double seconds = 0;
};

/// One line of the table: what, and how much in words.
struct SimulationFigure {
  std::string label;
  std::string text;
};

/// The table, also the page's.
std::vector<SimulationFigure> simulation_figures(const SimulationSummary& summary);

/// "19,366"
std::string grouped(std::uint64_t number);

}  // namespace poolproof::cli
