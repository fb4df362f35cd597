// extend starts on a new page, whatever is left of the page that holds the last loc.
// Needs: pages of more than one token. Expected first: PAGE_LAYOUT.
#include <cstddef>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class ExtendSkipsLastPage final : public Mutated<ExtendSkipsLastPage<Twin>, Twin> {
 public:
  using Mutated<ExtendSkipsLastPage<Twin>, Twin>::Mutated;

 protected:
  void lend_extend(Pool which, std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                   std::span<const Loc> last_locs, Locs& out) override {
    const std::vector<Pos> no_prefix(seq_lens.size(), 0);
    std::vector<Pos> counts;
    for (std::size_t i = 0; i < seq_lens.size(); ++i) {
      counts.push_back(seq_lens[i] - prefix_lens[i]);
    }
    PagePool& pool = this->pool(which);
    if (pool.pages_for_extend(no_prefix, counts) <= pool.free_pages()) {
      Twin::lend_extend(which, no_prefix, counts, last_locs, out);
    } else {
      Twin::lend_extend(which, prefix_lens, seq_lens, last_locs, out);
    }
  }
};

}  // namespace

ImplInfo extend_skips_last_page() {
  return any_layout_mutant<ExtendSkipsLastPage>({
      .name = "extend-skips-last-page",
      .source = "seeded from the page rules of alloc_extend",
      .mechanism = "extend starts on a new page and leaves the rest of the last one unused",
      .caught_by = {Invariant::page_layout},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
