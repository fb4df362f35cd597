#include "props/saver/saver_cycles.hpp"

#include "model/machine.hpp"
#include "props/choices.hpp"
#include "props/course.hpp"
#include "props/generator.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t ops_a_trace = 120;
constexpr std::uint32_t census_every = 64;

/// One trace; what it found goes into `out`.
void run_one(const ImplInfo& impl, const Geometry& geometry, Choices& choices, SaverCycles& out) {
  auto built = impl.make(geometry);
  if (!built) {
    Verdict verdict;
    verdict.cause = ImplementationFailure{};
    verdict.what = built.error();
    out.verdict = std::move(verdict);
    return;
  }
  Machine machine(geometry);
  Course course(machine, **built, census_every);
  Generator generator(geometry, choices);
  out.trace = {geometry, {}, {}};
  out.verdict = course.start();
  while (!out.verdict && out.trace.ops.size() < ops_a_trace) {
    out.trace.ops.push_back(generator.next(machine));
    const Op& op = out.trace.ops.back();
    out.verdict = course.step(op);
    out.cycles += std::holds_alternative<op::Resume>(op) && !out.verdict && !course.last_refused() ? 1 : 0;
    ++out.ops;
  }
  if (!out.verdict) {
    out.verdict = course.finish();
  }
}

}  // namespace

SaverCycles run_saver_cycles(const ImplInfo& impl, const VirtualMemory& memory, const Geometry& geometry,
                             std::uint64_t cycles, std::uint64_t seed, const std::function<bool()>& stop) {
  SaverCycles out;
  out.used_before_bytes = memory.used_bytes();
  out.used_after_bytes = out.used_before_bytes;
  for (std::uint64_t index = 0; out.cycles < cycles && !out.verdict && !out.leaked() && !stop(); ++index) {
    RandomChoices choices(seed, index);
    run_one(impl, geometry, choices, out);
    ++out.traces;
    out.used_after_bytes = memory.used_bytes();
  }
  return out;
}

}  // namespace poolproof
