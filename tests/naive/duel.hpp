// A duel: the reference machine and the naive model side by side over one implementation, asked the same after each op.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "impl/registry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"
#include "props/lockstep.hpp"
#include "tests/naive/naive_model.hpp"
#include "tests/naive/recorder.hpp"

namespace poolproof::naive {

/// What one op came to.
struct Round {
  std::string disagreement;        ///< empty = machine and naive model say the same
  std::optional<Verdict> verdict;  ///< the machine's; after a caller fault the duel goes on, after any other it is over
};

/// Copies are independent: machine, model and implementation.
class Duel {
 public:
  /// The implementation must support the geometry.
  Duel(const ImplInfo& impl, const Geometry& geometry);
  Duel(const Duel& other);
  Duel& operator=(const Duel& other);
  ~Duel() = default;

  /// The counters of the fresh implementation.
  Round start();
  /// One op, then a census on both sides. `op_fault` must have nothing against the op.
  Round step(const Op& op);
  /// Does the machine turn the op away? Then both sides are compared here and nothing has changed; cheaper than a copy
  /// and a step. Nothing when the op is admitted.
  std::optional<Round> turn_away(const Op& op);

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] const Model& model() const { return model_; }

 private:
  [[nodiscard]] std::string compare_caller(const std::optional<Verdict>& verdict, const std::set<Rule>& rules) const;
  [[nodiscard]] std::string compare_state() const;
  [[nodiscard]] std::string compare_row(Row row) const;
  [[nodiscard]] std::string compare_token(Row row, Pos position) const;

  Geometry g_;
  Machine machine_;
  Model model_;
  std::unique_ptr<Recorder> recorder_;
  Plan plan_;
};

}  // namespace poolproof::naive
