// The registry of names: every implementation that `--impl` knows, and how to build it.
#pragma once

#include <functional>
#include <memory>
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
  std::function<Result<std::unique_ptr<Allocator>, std::string>(const Geometry&)> make;
  /// The same with its state on another storage (impl/host/storage.hpp), whose errors its calls throw; empty where it
  /// has no storage to replace. on_storage() in impl/on_storage.hpp makes an entry of it.
  std::function<Result<std::unique_ptr<Allocator>, std::string>(const Geometry&, std::shared_ptr<const Storage>)>
      make_on = {};
};

/// All built-in implementations: host, the mutants by name, the canary.
std::span<const ImplInfo> builtin_impls();

/// By name; null when there is none.
const ImplInfo* find_impl(std::string_view name);

}  // namespace poolproof
