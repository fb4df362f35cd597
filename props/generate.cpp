#include "impl/host/host.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"

namespace poolproof {

Trace generate(const Geometry& geometry, Choices& choices, std::size_t ops) {
  Trace trace;
  trace.geometry = geometry;
  const auto allocator = make_host(geometry);
  if (!allocator) {
    return trace;
  }
  Machine machine(geometry);
  Lockstep lockstep(machine, **allocator);
  if (lockstep.start()) {
    return trace;
  }
  Generator generator(geometry, choices);
  trace.ops.reserve(ops);
  while (trace.ops.size() < ops) {
    trace.ops.push_back(generator.next(machine));
    if (lockstep.step(trace.ops.back())) {
      break;
    }
  }
  return trace;
}

}  // namespace poolproof
