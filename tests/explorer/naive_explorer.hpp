// Every sequence of ops, one by one, with no table of states and no filter before the machine's own word: what the
// explorer is held against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fuzz/explorer/alphabet.hpp"
#include "impl/registry.hpp"
#include "model/state_digest.hpp"
#include "props/lockstep.hpp"

namespace poolproof::testing {

/// Forward passes write and read up to the row's end, and decode stays within the positions.
inline bool in_scope(const Op& op, const Machine& machine, const Scope& scope) {
  if (const auto* write = std::get_if<op::Write>(&op)) {
    return write->range.end == machine.row_length(write->row);
  }
  if (const auto* read = std::get_if<op::Read>(&op)) {
    return read->range.end == machine.row_length(read->row);
  }
  if (const auto* decode = std::get_if<op::Decode>(&op)) {
    return std::all_of(decode->rows.begin(), decode->rows.end(),
                       [&](Row row) { return machine.row_length(row) < scope.positions; });
  }
  return true;
}

class NaiveExplorer {
 public:
  NaiveExplorer(const Scope& scope, const ImplInfo& impl)
      : scope_(scope), impl_(impl), alphabet_(scope, impl.offers ? impl.offers(scope.geometry) : OpWords{}) {}

  /// The length of the shortest sequence of up to `depth` ops that shows something, or nothing.
  std::optional<std::size_t> shortest(std::size_t depth) {
    for (std::size_t length = 0; length <= depth; ++length) {
      found_ = false;
      std::vector<Op> path;
      extend(path, length);
      if (found_) {
        return length;
      }
    }
    return std::nullopt;
  }

  /// Digests of all states that sequences of up to `depth` ops lead to.
  std::set<std::uint64_t> states(std::size_t depth) {
    states_.clear();
    std::vector<Op> path;
    extend(path, depth);
    return states_;
  }

 private:
  /// Runs the whole path afresh: no copy of anything is trusted.
  void extend(std::vector<Op>& path, std::size_t left) {
    auto allocator = std::move(impl_.make(scope_.geometry)).value();
    Machine machine(scope_.geometry);
    Lockstep lockstep(machine, *allocator);
    std::optional<Verdict> verdict = lockstep.start();
    for (std::size_t i = 0; !verdict && i < path.size(); ++i) {
      verdict = lockstep.census();
      verdict = verdict ? verdict : lockstep.step(path[i]);
    }
    verdict = verdict ? verdict : lockstep.census();
    if (verdict) {
      found_ = found_ || !verdict->caller_fault();
      return;
    }
    GenerationNames names;
    machine.name_generations(names);
    StateDigest digest(names);
    machine.digest(digest);
    allocator->digest(digest);
    states_.insert(digest.value());
    if (left == 0) {
      return;
    }
    for (std::size_t move = 0; move < alphabet_.size(); ++move) {
      const Op& op = alphabet_.op(static_cast<MoveIndex>(move));
      if (machine.admits(op) && in_scope(op, machine, scope_)) {
        path.push_back(op);
        extend(path, left - 1);
        path.pop_back();
      }
    }
  }

  const Scope& scope_;
  const ImplInfo& impl_;
  Alphabet alphabet_;
  std::set<std::uint64_t> states_;
  bool found_ = false;
};

}  // namespace poolproof::testing
