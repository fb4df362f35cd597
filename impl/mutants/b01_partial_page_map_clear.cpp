// B01, sgl-project/sglang#27779: a free gives the whole SWA page back but zeroes the mapping of the locs that were
// passed alone. The other entries of the same full page still name an SWA page that is free, or lent to somebody else.
// Needs: a paired pool with pages of more than one token; shows where part of a page was rejected before the free.
// Expected first: MAPPING_CLEARED, at the free.
#include "impl/mutants/partial_clear.hpp"

namespace poolproof {
namespace {

class PartialPageMapClear final : public PartialClear<PartialPageMapClear> {
 public:
  using PartialClear::PartialClear;
};

}  // namespace

ImplInfo b01_partial_page_map_clear() {
  return hybrid_mutant<PartialPageMapClear>({
      .name = "B01",
      .source = "sgl-project/sglang#27779",
      .mechanism = "a free clears the mapping of the passed locs, not of their whole pages",
      .caught_by = {Invariant::mapping_cleared},
      .supports = paired_wide_pages,
  });
}

}  // namespace poolproof
