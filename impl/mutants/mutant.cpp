#include "impl/mutants/mutant.hpp"

namespace poolproof {

ImplInfo mutant_entry(MutantFacts facts, BuildMutant build) {
  ImplInfo info;
  info.name = std::move(facts.name);
  info.kind = ImplKind::mutant;
  info.source = std::move(facts.source);
  info.mechanism = std::move(facts.mechanism);
  info.caught_by = std::move(facts.caught_by);
  info.supports = std::move(facts.supports);
  info.make = [name = info.name, supports = info.supports,
               build = std::move(build)](const Geometry& g) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = geometry_fault(g)) {
      return *fault;
    }
    if (!supports(g)) {
      return name + " cannot show on this pool (" + to_string(g) + "); `poolproof list mutants` says what it needs";
    }
    return build_checked(g, [&] { return build(g); });
  };
  return info;
}

}  // namespace poolproof
