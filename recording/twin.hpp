// What should have been: the reference machine and the host twin, fed with the lifted ops as they come.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "impl/allocator.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"
#include "model/result.hpp"
#include "props/lockstep.hpp"

namespace poolproof {

class Twin {
 public:
  /// Answers why it cannot be built for this geometry.
  static Result<std::unique_ptr<Twin>, std::string> make(const Geometry& geometry);

  /// Runs one op. A caller's fault leaves all as it was, and the op still counts: the trace holds it too. Any other
  /// verdict would be the twin's own fault.
  std::optional<Verdict> step(const Op& op);
  /// Was the last op refused?
  [[nodiscard]] bool refused() const { return machine_.last_refused(); }
  [[nodiscard]] bool admits(const Op& op) { return machine_.admits(op); }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const Gauges& gauges() const { return gauges_; }
  /// Number that the next op of the trace will have.
  [[nodiscard]] OpIndex next_op() const { return machine_.next_op(); }

 private:
  Twin(const Geometry& geometry, std::unique_ptr<Allocator> allocator);
  void read_gauges();

  Machine machine_;
  std::unique_ptr<Allocator> allocator_;
  Lockstep lockstep_;
  Gauges gauges_;
};

}  // namespace poolproof
