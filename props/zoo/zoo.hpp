// The zoo: every planted fault, and how fast each engine of poolproof catches it. The yardstick of the harness itself:
// a fault that no engine catches, or that is caught as something else than it is, is a hole in poolproof.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impl/registry.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

/// check: a campaign of random traces. simulate: a simulated engine under a synthetic workload. corpus: traces that are
/// kept in files. explorer: every sequence of ops in small scopes.
enum class ZooEngine : std::uint8_t { check, simulate, corpus, explorer };
inline constexpr std::size_t zoo_engine_count = 4;
std::string_view zoo_engine_name(ZooEngine engine);
std::optional<ZooEngine> zoo_engine_from(std::string_view name);

/// What one engine made of one fault, over all seeds. Medians are of the seeds that caught it.
struct ZooCell {
  std::uint32_t runs = 0;    ///< 0: the engine has nothing to say of it (no pool that it runs on supports it)
  std::uint32_t caught = 0;  ///< of those
  std::string cause;         ///< what the first one that caught it reported
  std::uint64_t ops = 0;     ///< until it was seen, median
  double seconds = 0;        ///< likewise; a measure, and no part of any decision
};

struct ZooRow {
  const ImplInfo* impl = nullptr;
  std::array<ZooCell, zoo_engine_count> cells;
  std::size_t shrunk_ops = 0;           ///< the median of check's shrunk traces
  std::vector<std::string> unexpected;  ///< causes that the fault is not said to break, with engine and seed
  [[nodiscard]] const ZooCell& cell(ZooEngine engine) const { return cells.at(static_cast<std::size_t>(engine)); }
  [[nodiscard]] bool caught() const;
  /// Ops of check's shrunk traces above the shortest trace there is; where both are known.
  [[nodiscard]] std::optional<std::int64_t> above_optimum() const;
};

/// What the explorer finds on one fault: the shortest trace of all scopes that it went through.
struct ZooShortest {
  std::uint32_t scopes = 0;  ///< of those that support it; 0: it cannot be explored
  std::optional<Verdict> verdict;
  std::size_t ops = 0;
};

/// A trace of the corpus.
struct ZooTrace {
  std::string name;
  std::string mutant;  ///< whose it is
  Trace trace;
};

struct ZooOptions {
  std::vector<const ImplInfo*> impls;
  std::vector<ZooEngine> engines{ZooEngine::check, ZooEngine::simulate, ZooEngine::corpus};
  std::uint32_t seeds = 5;      ///< 1..seeds, each a run of check and of simulate
  std::uint64_t traces = 6000;  ///< of a campaign, at most
  /// The explorer, which lives in a room above this one; without it there is no engine of that name.
  std::function<ZooShortest(const ImplInfo&)> shortest;
  std::vector<ZooTrace> corpus;  ///< each is replayed on the mutant that it names
  std::function<bool()> stop;    ///< asked between runs; true ends with the rows so far
  std::function<void(const std::string& impl, std::size_t done, std::size_t all)> progress;
};

/// A row for each implementation, in their order. Deterministic but for `seconds`.
std::vector<ZooRow> run_zoo(const ZooOptions& options);

}  // namespace poolproof
