// The prefix sum over a batch is exclusive where it should be inclusive: the second request of an extend starts at the
// first one's new page. The free list moves by the right number of pages, so no count is wrong.
// Needs: any pool, and a batch of two requests that both take a new page. Expected first: NO_DOUBLE_LEND.
#include <algorithm>
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class BatchSharesPage final : public Mutated<BatchSharesPage<Twin>, Twin> {
 public:
  using Mutated<BatchSharesPage<Twin>, Twin>::Mutated;

 protected:
  void lend_extend(Pool which, std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                   std::span<const Loc> last_locs, Locs& out) override {
    Twin::lend_extend(which, prefix_lens, seq_lens, last_locs, out);
    if (seq_lens.size() < 2) {
      return;
    }
    const auto count = static_cast<std::size_t>(seq_lens[0] - prefix_lens[0]);
    const std::span<Loc> first = new_pages(std::span<Loc>(out).first(count), prefix_lens[0]);
    const std::span<Loc> second = new_pages(
        std::span<Loc>(out).subspan(count, static_cast<std::size_t>(seq_lens[1] - prefix_lens[1])), prefix_lens[1]);
    if (first.empty()) {
      return;
    }
    const std::size_t head = std::min(second.size(), static_cast<std::size_t>(this->geometry().page));
    for (std::size_t i = 0; i < head; ++i) {
      second[i] = first[0] + static_cast<Loc>(i);
    }
  }

 private:
  /// A request's locs behind the rest of its last page.
  [[nodiscard]] std::span<Loc> new_pages(std::span<Loc> locs, Pos prefix_len) const {
    const Tokens page = this->geometry().page;
    return locs.subspan(std::min(locs.size(), static_cast<std::size_t>(-prefix_len & (page - 1))));
  }
};

}  // namespace

ImplInfo batch_shares_page() {
  return any_layout_mutant<BatchSharesPage>({
      .name = "batch-shares-page",
      .source = "a missing prefix sum, as an alloc_extend kernel can have it",
      .mechanism = "the second request of a batch starts at the first one's new page",
      .caught_by = {Invariant::no_double_lend},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
