// The flags of `poolproof simulate`, and what they make of a simulated engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/complaint.hpp"
#include "cli/impl_options.hpp"
#include "cli/output_options.hpp"
#include "cli/workload_input.hpp"
#include "model/result.hpp"
#include "props/workload/serving.hpp"

namespace CLI {
class App;
}

namespace poolproof::cli {

struct SimulateOptions {
  std::string workload;
  bool lenient = false;
  std::string model;
  std::string geometry;
  std::string impl = "host";
  std::string seed;
  std::uint64_t requests = 0;
  double speed = 1;
  ServingOptions serving;  ///< chunk, running, speculate, aborts and reads as given
  std::vector<std::string> with;
  std::vector<std::string> without;
  bool swarm = false;
  std::uint32_t census_every = 16384;
  double time_s = 0;
  std::string trace_out;
  std::string html;
  std::string out = "poolproof-out";
  bool no_shrink = false;
  std::string progress = "auto";
  ImplOptions how;
  OutputOptions output;
};

void add_simulate_options(CLI::App& app, SimulateOptions& options);

/// The engine that the flags ask for: pool, features, seed.
Result<ServingOptions, Complaint> serving_of(const SimulateOptions& options);

}  // namespace poolproof::cli
