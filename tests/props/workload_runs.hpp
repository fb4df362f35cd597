// Simulations as the tests run them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "impl/registry.hpp"
#include "props/workload/simulation.hpp"
#include "props/workload/synthetic.hpp"
#include "props/workload/workload_reader.hpp"

namespace poolproof {

/// The geometry of a pool line's keys.
inline Geometry pool_of(const std::string& keys) {
  const auto trace = parse_trace("poolproof 1\npool " + keys + "\n", "pool");
  return trace ? trace->geometry : Geometry{};
}

/// The text of a real workload, or nothing where it is not beside the project.
inline std::optional<std::string> real_workload(const std::string& file) {
  std::ifstream in(std::string(POOLPROOF_SOURCE_DIR) + "/../shared/data/" + file, std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Requests of a text that outlives them.
inline RequestSource requests_of(const std::string& text) {
  auto reader = std::make_shared<WorkloadReader>(lines_of(text), "workload", false);
  return [reader] { return reader->next(); };
}

inline std::string verdict_text(const SimulationResult& result) {
  return result.verdict ? std::string(cause_id(result.verdict->cause)) + ": " + result.verdict->what : "holds";
}

}  // namespace poolproof
