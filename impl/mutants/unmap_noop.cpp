// clear_full_to_swa_mapping does nothing, so after a load-back donor and target name the same SWA loc.
// Needs: a hybrid pool. Expected first: MAPPING_CLEARED.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class UnmapNoop final : public Mutated<UnmapNoop, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer clear_full_to_swa_mapping(std::span<const Loc> /*full*/) override { return Answer::served; }
};

}  // namespace

ImplInfo unmap_noop() {
  return hybrid_mutant<UnmapNoop>({
      .name = "unmap-noop",
      .source = "one of the four clear sites of sgl-project/sglang#35773, left out",
      .mechanism = "clear_full_to_swa_mapping does nothing: after a load-back two full locs name one SWA loc",
      .caught_by = {Invariant::mapping_cleared},
      .supports = any_hybrid,
  });
}

}  // namespace poolproof
