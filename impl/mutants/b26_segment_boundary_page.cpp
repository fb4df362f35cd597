// B26, sgl-project/sglang#37729: a segment free samples one token a page and mishandles the page at the border. A start
// inside a page breaks the caller's rule C4, so a trace never gets that far and that half cannot be seeded; the other
// border can: the partial last page is not returned.
// Needs: pages of more than one token. Expected first: MAPPING_CLEARED where the page has a peer, else AVAIL_EXACT;
// inside a group GROUP_OWNERSHIP, and CONSERVATION or GROUP_DRAINS.
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class SegmentBoundaryPage final : public Mutated<SegmentBoundaryPage<Twin>, Twin> {
 public:
  using Mutated<SegmentBoundaryPage<Twin>, Twin>::Mutated;

 protected:
  void collect_segment_pages(std::span<const Segment> segments, std::vector<Page>& out) override {
    out.clear();
    const auto stride = static_cast<std::size_t>(this->geometry().page);
    for (const Segment& segment : segments) {
      for (std::size_t i = 0; i + stride <= segment.locs.size(); i += stride) {
        out.push_back(this->pool(Pool::full).page_of(segment.locs[i]));
      }
    }
  }
};

}  // namespace

ImplInfo b26_segment_boundary_page() {
  return any_layout_mutant<SegmentBoundaryPage>({
      .name = "B26",
      .source = "sgl-project/sglang#37729",
      .mechanism = "a segment free does not return the partial last page",
      .caught_by = {Invariant::avail_exact, Invariant::mapping_cleared, Invariant::group_ownership,
                    Invariant::group_drains, Invariant::conservation},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
