#include "impl/registry.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"

namespace poolproof {

Trace generate(const Geometry& geometry, Choices& choices, std::size_t ops) {
  Trace trace;
  trace.geometry = geometry;
  const ImplInfo* host = find_impl("host");
  if (host == nullptr) {
    return trace;
  }
  const auto allocator = host->make(geometry);
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
