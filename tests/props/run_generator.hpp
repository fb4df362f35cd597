// Runs generated traces against the host twin, for the generator's and the coverage's tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/coverage.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"

namespace poolproof {

/// One generated trace as it ran.
struct GeneratedRun {
  Trace trace;
  std::string fault;  ///< empty: every op was admitted and held
};

/// `look` is called after each op with machine and refusal; `without` is a word to leave out.
template <typename Look>
GeneratedRun run_generated(const Geometry& geometry, Choices& choices, std::size_t ops, Coverage& coverage,
                           std::optional<OpWord> without, const Look& look) {
  GeneratedRun run;
  run.trace.geometry = geometry;
  const auto allocator = find_impl("host")->make(geometry);
  if (!allocator) {
    run.fault = allocator.error();
    return run;
  }
  Machine machine(geometry);
  Lockstep lockstep(machine, **allocator);
  if (lockstep.start()) {
    run.fault = "the host twin does not start";
    return run;
  }
  Generator generator(geometry, choices);
  if (without) {
    generator.forbid(*without);
  }
  coverage.new_trace(geometry);
  for (std::size_t i = 0; i < ops; ++i) {
    const Op op = generator.next(machine);
    if (const auto fault = op_fault(op, geometry)) {
      run.fault = *fault;
      return run;
    }
    run.trace.ops.push_back(op);
    coverage.before(op, machine);
    if (const auto verdict = lockstep.step(op)) {
      run.fault = std::string(cause_id(verdict->cause)) + ": " + verdict->what + "\n" + print_trace(run.trace);
      return run;
    }
    coverage.after(op, machine, lockstep.last_refused());
    look(op, machine, lockstep.last_refused());
  }
  if (const auto verdict = lockstep.census()) {
    run.fault = std::string(cause_id(verdict->cause)) + ": " + verdict->what + "\n" + print_trace(run.trace);
  }
  return run;
}

inline GeneratedRun run_generated(const Geometry& geometry, Choices& choices, std::size_t ops, Coverage& coverage,
                                  std::optional<OpWord> without = std::nullopt) {
  return run_generated(geometry, choices, ops, coverage, without, [](const Op&, const Machine&, bool) {});
}

}  // namespace poolproof
