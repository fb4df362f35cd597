// The registry of names: every implementation that `--impl` knows, and how to build it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impl/allocator.hpp"
#include "model/invariants.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"
#include "model/result.hpp"

namespace poolproof {

class Storage;

enum class ImplKind : std::uint8_t { real, mutant, canary };

/// One implementation. For mutants: which real bug it plants, and what must catch it.
struct ImplInfo {
  std::string name;  ///< what `--impl` takes: "host", "B15-group-end"
  ImplKind kind = ImplKind::real;
  /// It builds the memory of its pools: it takes geometries with `kv`, and no others.
  bool memory = false;
  std::string source;     ///< mutants: where the bug was seen, "sgl-project/sglang#38571"
  std::string mechanism;  ///< one sentence
  /// Mutants: the invariants that may report it first; any other is a test failure.
  std::vector<Invariant> caught_by;
  /// Can it be built with this geometry, and (mutants) can the fault show there?
  std::function<bool(const Geometry&)> supports;
  /// The words that it offers on a geometry; empty: all that the layout has.
  std::function<OpWords(const Geometry&)> offers = {};
  /// Would it take this op, beyond the words that it offers? Empty: it does. Asked when traces are made and shrunk.
  std::function<bool(const Op&, const Machine&)> takes = {};
  /// Where answers have a time limit: true cuts it down while a trace that hangs is shrunk, false restores it.
  std::function<void(bool)> hurry = {};
  /// Why it cannot run on this machine, as a sentence; nothing when it can. Empty: it runs everywhere.
  std::function<std::optional<std::string>()> missing = {};
  std::function<Result<std::unique_ptr<Allocator>, std::string>(const Geometry&)> make;
  /// Builds the replica of one rank, from 0 on; empty: each is built by `make` (impl/ranks.hpp).
  std::function<Result<std::unique_ptr<Allocator>, std::string>(const Geometry&, std::uint32_t)> make_rank = {};
  /// Mutants: how many replicas it takes for the fault to show.
  std::uint32_t ranks = 1;
  /// Runs in a process of its own where that is left to us: an error may spoil the whole process.
  bool isolated = false;
  /// The same with its state on another storage (impl/host/storage.hpp), whose errors its calls throw; empty where it
  /// has no storage to replace. on_storage() in impl/on_storage.hpp makes an entry of it.
  std::function<Result<std::unique_ptr<Allocator>, std::string>(const Geometry&, std::shared_ptr<const Storage>)>
      make_on = {};
};

/// All built-in implementations: the real ones, the mutants of the host twin by name, the canary.
std::span<const ImplInfo> builtin_impls();

/// The mutants of the device implementations, "cuda:NAME" and "cuda-host:NAME", and those of the memory saver on a
/// GPU, "cuda-saver:NAME".
std::span<const ImplInfo> device_mutant_impls();

/// By name; null when there is none.
const ImplInfo* find_impl(std::string_view name);

/// The right implementation on this machine's memory that takes pools of this kind: `host`, or `saver` where they have
/// memory.
const ImplInfo& host_impl_for(const Geometry& geometry);

}  // namespace poolproof
