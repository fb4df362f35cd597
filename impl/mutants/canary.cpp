// The canary: the head of the free list never moves, so every lending hands out the same pages. A campaign that does
// not catch it, on any pool and within a handful of ops, is broken.
#include <utility>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class Canary final : public Mutated<Canary<Twin>, Twin> {
 public:
  using Mutated<Canary<Twin>, Twin>::Mutated;

 protected:
  void lend(Pool which, Tokens tokens, Locs& out) override {
    const PageLists before = this->pool(which).lists();
    Twin::lend(which, tokens, out);
    this->pool(which).set_lists(before);
  }
  void lend_extend(Pool which, std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                   std::span<const Loc> last_locs, Locs& out) override {
    const PageLists before = this->pool(which).lists();
    Twin::lend_extend(which, prefix_lens, seq_lens, last_locs, out);
    this->pool(which).set_lists(before);
  }
  void lend_decode(Pool which, std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    const PageLists before = this->pool(which).lists();
    Twin::lend_decode(which, seq_lens, last_locs, out);
    this->pool(which).set_lists(before);
  }
};

}  // namespace

ImplInfo canary() {
  ImplInfo info = any_layout_mutant<Canary>({
      .name = "canary",
      .source = "poolproof's own check of itself",
      .mechanism = "the head of the free list never moves",
      .caught_by = {Invariant::free_list_clean, Invariant::no_double_lend, Invariant::avail_exact},
      .supports = any_geometry,
  });
  info.kind = ImplKind::canary;
  return info;
}

}  // namespace poolproof
