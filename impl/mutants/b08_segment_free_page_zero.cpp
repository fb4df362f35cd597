// B08, sgl-project/sglang#38519: the segment form takes one representative a page and does not filter those without a
// peer, so page 0 enters the SWA free list, once for each such page.
// Needs: a paired pool, and a segment with a page outside the tail or with its SWA half gone.
// Expected first: SENTINEL_UNTOUCHED.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class SegmentFreePageZero final : public Mutated<SegmentFreePageZero, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer free_segments(Side side, std::span<const Segment> segments) override {
    in_segment_ = true;
    const Answer answer = HybridAllocator::free_segments(side, segments);
    in_segment_ = false;
    return answer;
  }

 protected:
  void collect_peers(std::span<const Page> full_pages, std::vector<Page>& out) override {
    HybridAllocator::collect_peers(full_pages, out);
    if (!in_segment_) {
      return;
    }
    for (const Page page : full_pages) {
      if (mapping().at(pool(Pool::full).first_loc(page)) == 0) {
        out.push_back(0);
      }
    }
  }

 private:
  bool in_segment_ = false;
};

}  // namespace

ImplInfo b08_segment_free_page_zero() {
  return hybrid_mutant<SegmentFreePageZero>({
      .name = "B08",
      .source = "sgl-project/sglang#38519",
      .mechanism = "the segment-shaped SWA free does not skip representatives without a peer: page 0 is returned",
      .caught_by = {Invariant::sentinel_untouched},
      .supports = paired,
  });
}

}  // namespace poolproof
