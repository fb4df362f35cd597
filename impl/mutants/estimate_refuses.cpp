// The engine decides on merging by an upper estimate, one page too many a request that continues a page. Here extend
// refuses by it as well, so the last page of a pool is never lent.
// Needs: pages of more than one token. Expected first: SERVED_WHEN_FITS.
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class EstimateRefuses final : public Mutated<EstimateRefuses<Twin>, Twin> {
 public:
  using Mutated<EstimateRefuses<Twin>, Twin>::Mutated;

  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override {
    const PagePool& full = this->pool(Pool::full);
    std::int64_t estimate = 0;
    for (std::size_t i = 0; i < seq_lens.size(); ++i) {
      estimate += full.pages_of(seq_lens[i] - prefix_lens[i]) + 1;
    }
    if (estimate > full.free_pages() + full.staged_pages()) {
      return Answer::refused;
    }
    return Twin::alloc_extend(prefix_lens, seq_lens, last_locs, out);
  }
};

}  // namespace

ImplInfo estimate_refuses() {
  return any_layout_mutant<EstimateRefuses>({
      .name = "estimate-refuses",
      .source = "the upper estimate that alloc_extend merges by",
      .mechanism = "extend refuses by an upper estimate of its need",
      .caught_by = {Invariant::served_when_fits},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
