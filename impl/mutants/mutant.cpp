#include "impl/mutants/mutant.hpp"

#include <optional>
#include <utility>

#include "impl/on_storage.hpp"

namespace poolproof {
ImplInfo entry_of(const MutantFacts& facts) {
  ImplInfo info;
  info.name = facts.name;
  info.kind = ImplKind::mutant;
  info.source = facts.source;
  info.mechanism = facts.mechanism;
  info.caught_by = facts.caught_by;
  info.supports = facts.supports;
  return info;
}

std::optional<std::string> unsuited(const ImplInfo& info, const Geometry& g) {
  if (auto fault = geometry_fault(g)) {
    return fault;
  }
  if (!info.supports(g)) {
    return info.name + " cannot show on this pool (" + to_string(g) + "); `poolproof list mutants` says what it needs";
  }
  return std::nullopt;
}

ImplInfo mutant_entry(MutantFacts facts, BuildMutant build) {
  ImplInfo info = entry_of(facts);
  auto make_on = [bare = info, build = std::move(build)](
                     const Geometry& g,
                     std::shared_ptr<const Storage> storage) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = unsuited(bare, g)) {
      return *std::move(fault);
    }
    return guarded([&] { return build(g, std::move(storage)); });
  };
  make_anywhere(info, std::move(make_on));
  return info;
}

ImplInfo ranked_mutant_entry(MutantFacts facts, std::uint32_t ranks, BuildMutantRank build) {
  ImplInfo info = entry_of(facts);
  info.ranks = ranks;
  info.make_rank = [bare = info, build = std::move(build)](
                       const Geometry& g, std::uint32_t rank) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = unsuited(bare, g)) {
      return *std::move(fault);
    }
    return guarded([&] { return build(g, rank); });
  };
  info.make = [make_rank = info.make_rank](const Geometry& g) { return make_rank(g, 0); };
  return info;
}

}  // namespace poolproof
