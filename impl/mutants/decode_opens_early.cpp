// decode tests seq_len instead of seq_len-1 for the page border: the last slot of a page goes unused and a new page is
// opened for it.
// Needs: pages of more than one token. Expected first: PAGE_LAYOUT.
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class DecodeOpensEarly final : public Mutated<DecodeOpensEarly<Twin>, Twin> {
 public:
  using Mutated<DecodeOpensEarly<Twin>, Twin>::Mutated;

 protected:
  void lend_decode(Pool which, std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    Twin::lend_decode(which, seq_lens, last_locs, out);
    PagePool& pool = this->pool(which);
    for (std::size_t i = 0; i < seq_lens.size(); ++i) {
      if (seq_lens[i] % pool.page() == 0 && pool.free_pages() > 0) {
        pool.lend(std::span<Loc>(out).subspan(i, 1));
      }
    }
  }
};

}  // namespace

ImplInfo decode_opens_early() {
  return any_layout_mutant<DecodeOpensEarly>({
      .name = "decode-opens-early",
      .source = "seeded from the page rules of alloc_decode",
      .mechanism = "decode opens a page for the last slot of the one before",
      .caught_by = {Invariant::page_layout},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
