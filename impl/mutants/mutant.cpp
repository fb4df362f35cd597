#include "impl/mutants/mutant.hpp"

#include <utility>

#include "impl/on_storage.hpp"

namespace poolproof {

ImplInfo mutant_entry(MutantFacts facts, BuildMutant build) {
  ImplInfo info;
  info.name = std::move(facts.name);
  info.kind = ImplKind::mutant;
  info.source = std::move(facts.source);
  info.mechanism = std::move(facts.mechanism);
  info.caught_by = std::move(facts.caught_by);
  info.supports = std::move(facts.supports);
  auto make_on = [name = info.name, supports = info.supports, build = std::move(build)](
                     const Geometry& g,
                     std::shared_ptr<const Storage> storage) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = geometry_fault(g)) {
      return *fault;
    }
    if (!supports(g)) {
      return name + " cannot show on this pool (" + to_string(g) + "); `poolproof list mutants` says what it needs";
    }
    return build_checked(g, [&] { return build(g, std::move(storage)); });
  };
  make_anywhere(info, std::move(make_on));
  return info;
}

}  // namespace poolproof
