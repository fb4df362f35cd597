#include "impl/mutants/mutant.hpp"

namespace poolproof {
namespace {

ImplInfo entry_of(MutantFacts facts) {
  ImplInfo info;
  info.name = std::move(facts.name);
  info.kind = ImplKind::mutant;
  info.source = std::move(facts.source);
  info.mechanism = std::move(facts.mechanism);
  info.caught_by = std::move(facts.caught_by);
  info.supports = std::move(facts.supports);
  return info;
}

}  // namespace

ImplInfo ranked_mutant_entry(MutantFacts facts, std::uint32_t ranks, BuildMutantRank build) {
  ImplInfo info = entry_of(std::move(facts));
  info.ranks = ranks;
  info.make_rank = [name = info.name, supports = info.supports, build = std::move(build)](
                       const Geometry& g, std::uint32_t rank) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = geometry_fault(g)) {
      return *fault;
    }
    if (!supports(g)) {
      return name + " cannot show on this pool (" + to_string(g) + "); `poolproof list mutants` says what it needs";
    }
    return build_checked(g, [&] { return build(g, rank); });
  };
  info.make = [make_rank = info.make_rank](const Geometry& g) { return make_rank(g, 0); };
  return info;
}

ImplInfo mutant_entry(MutantFacts facts, BuildMutant build) {
  ImplInfo info = ranked_mutant_entry(
      std::move(facts), 1, [build = std::move(build)](const Geometry& g, std::uint32_t) { return build(g); });
  info.make_rank = {};  // all replicas are alike
  return info;
}

}  // namespace poolproof
