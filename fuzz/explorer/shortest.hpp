// The shortest trace that shows a fault, over scopes of every kind of pool: what a shrinker is measured by.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "fuzz/explorer/explorer.hpp"

namespace poolproof {

/// Two or three pages of each kind of pool, with all words: where a fault shows by few ops if at all.
std::span<const Scope> hunting_scopes();

struct Shortest {
  std::uint32_t scopes = 0;        ///< scopes that were explored, as far as the states sufficed
  std::optional<Verdict> verdict;  ///< nothing: no scope shows the fault
  Trace trace;
  std::string scope;  ///< its name
};

struct ShortestOptions {
  std::uint32_t threads = 1;
  std::uint64_t most_states = 200'000;  ///< of a scope
  std::function<bool()> stop = {};
};

/// The shortest over all scopes; of several of one length that of the first scope.
Shortest shortest_trace(const ImplInfo& impl, std::span<const Scope> scopes, const ShortestOptions& options);

}  // namespace poolproof
