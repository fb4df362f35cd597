// A simulation for machines: what `--json` says of it, and the data of its page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/simulation_summary.hpp"

namespace poolproof::cli {

/// docs/reference.md says what each field means.
nlohmann::ordered_json simulation_json(const SimulationSummary& summary);

/// One self-contained page: figures, what the pools held over time, requests, marks.
std::string simulation_page(const SimulationSummary& summary);

}  // namespace poolproof::cli
