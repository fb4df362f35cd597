// The generator: protocol-correct traces that reach the corners where allocator bugs live.
//
// It asks the reference machine what is determined (row lengths, free pages, live peers), never which page came, so the
// same choices give the same trace whatever implementation runs beside it. Swarm: each trace first draws which ops it
// may use and how it is biased (fill, drain, churn, speculate, share, group, ...), so that pools are really exhausted.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "model/ops.hpp"
#include "props/choices.hpp"

namespace poolproof {

class Generator {
 public:
  /// Draws the trace's swarm. `choices` must outlive the generator.
  Generator(const Geometry& geometry, Choices& choices);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;

  /// Leaves a word out, to narrow a hunt. `expect` still stands in when there is nothing else to say.
  void forbid(OpWord word);

  /// Leaves ops out that `takes` does not take, whatever their word.
  void restrict_to(std::function<bool(const Op&, const Machine&)> takes);

  /// The next op, which `machine` admits as it stands. Ops are admitted by the caller before the next call.
  Op next(Machine& machine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Geometry for one trace: `base` with sizes, window, ring and request slots varied by choices (page size, layout, ring
/// on or off, need_sort stay).
Geometry vary_geometry(const Geometry& base, Choices& choices);

/// The named geometries that `check` runs through: every layout, page sizes 1, 2, 4, 16, 64, 256, ring on and off,
/// need_sort on and off.
struct NamedGeometry {
  std::string name;  ///< "hybrid-p4-ring-sort"
  Geometry geometry;
};
const std::vector<NamedGeometry>& named_geometries();
/// Those with memory behind the pools, for implementations that build it: MHA, MLA and DSA, with and without SWA, ring,
/// the saver on, off and with backups.
const std::vector<NamedGeometry>& memory_geometries();
/// Both, in this order.
std::vector<NamedGeometry> all_geometries();

/// A whole trace of `ops` ops, run against the host twin as it grows so that the machine's state is real. Shorter only
/// when the twin cannot be built for the geometry (no ops) or itself fails (the last op is the one that shows it).
Trace generate(const Geometry& geometry, Choices& choices, std::size_t ops);

}  // namespace poolproof
