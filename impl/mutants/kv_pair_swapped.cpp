// The KV store writes tokens in pairs and swaps the halves of the last one.
// Needs: any pool, and a write of two tokens or more. Expected first: KV_INTACT, or KV_FRESH where the other
// token lies on a page that was lent earlier.
#include <array>
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class KvPairSwapped final : public Mutated<KvPairSwapped<Twin>, Twin> {
 public:
  using Mutated<KvPairSwapped<Twin>, Twin>::Mutated;

  Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) override {
    const Answer answer = Twin::write_full(full_locs, stamps);
    if (const std::size_t count = full_locs.size(); count > 1) {
      const std::array<Stamp, 2> swapped{stamps[count - 1], stamps[count - 2]};
      this->full_kv().store(full_locs.last(2), swapped);
    }
    return answer;
  }
};

}  // namespace

ImplInfo kv_pair_swapped() {
  return any_layout_mutant<KvPairSwapped>({
      .name = "kv-pair-swapped",
      .source = "seeded from the KV store",
      .mechanism = "a KV write of two tokens or more swaps its last two",
      .caught_by = {Invariant::kv_intact, Invariant::kv_fresh},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
