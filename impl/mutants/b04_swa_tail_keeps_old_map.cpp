// B04, sgl-project/sglang#25805: a tail-only lending maps the last window and leaves the other new locs' entries as a
// former owner left them; freeing them later returns SWA pages of other requests. A stale entry has to come from
// somewhere, so the historical pair is planted: set-shaped frees clear the passed locs alone, as in B01, and the
// window's entries are not reset either. Needs: a paired pool with pages of more than one token. Expected first:
// MAPPING_CLEARED, at the free that leaves the entry, or at the tail that hands it on.
#include "impl/mutants/partial_clear.hpp"

namespace poolproof {
namespace {

class SwaTailKeepsOldMap final : public PartialClear<SwaTailKeepsOldMap> {
 public:
  using PartialClear::PartialClear;

 protected:
  void clear_outside_tail(std::span<const Loc> /*full*/) override {}
};

}  // namespace

ImplInfo b04_swa_tail_keeps_old_map() {
  return hybrid_mutant<SwaTailKeepsOldMap>({
      .name = "B04",
      .source = "sgl-project/sglang#25805",
      .mechanism = "a tail-only lending keeps the old mapping of the locs outside the tail (with B01's partial clear)",
      .caught_by = {Invariant::mapping_cleared},
      .supports = paired_wide_pages,
  });
}

}  // namespace poolproof
