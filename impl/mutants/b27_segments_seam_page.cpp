// B27, sgl-project/sglang#38941: pieces of one row meet inside a page, and the page at the seam is released by both. A
// caller that cuts there breaks C4; planted in the allocator: the last page of a segment is end/page, not (end-1)/page,
// so the page at the seam of two adjoining segments counts twice.
// Needs: any pool. Expected first: FREE_LIST_CLEAN.
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class SegmentsSeamPage final : public Mutated<SegmentsSeamPage<Twin>, Twin> {
 public:
  using Mutated<SegmentsSeamPage<Twin>, Twin>::Mutated;

 protected:
  void collect_segment_pages(std::span<const Segment> segments, std::vector<Page>& out) override {
    Twin::collect_segment_pages(segments, out);
    for (std::size_t i = 1; i < segments.size(); ++i) {
      const Pos end = segments[i - 1].start_pos + static_cast<Pos>(segments[i - 1].locs.size());
      if (end == segments[i].start_pos) {
        out.push_back(this->pool(Pool::full).page_of(segments[i].locs[0]));
      }
    }
  }
};

}  // namespace

ImplInfo b27_segments_seam_page() {
  return any_layout_mutant<SegmentsSeamPage>({
      .name = "B27",
      .source = "sgl-project/sglang#38941",
      .mechanism = "a free of adjoining segments returns the page at their seam twice",
      .caught_by = {Invariant::free_list_clean},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
