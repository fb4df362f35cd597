// Ring writes take the row by position mod window, reads by position mod ring.
// Needs: a ring longer than the window. Expected first: KV_INTACT, or KV_FRESH where the slot had an owner before.
#include <cstddef>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class RingRowModWindow final : public Mutated<RingRowModWindow, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override {
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < full_locs.size(); ++i) {
      const Pos pos = first_pos + static_cast<Pos>(i);
      rows.push_back(slot * geometry().ring + pos % geometry().window);
    }
    swa_kv().store(rows, stamps);
    return Answer::served;
  }
};

}  // namespace

ImplInfo ring_row_mod_window() {
  return hybrid_mutant<RingRowModWindow>({
      .name = "ring-row-mod-window",
      .source = "seeded from the ring's addressing",
      .mechanism = "ring writes address rows by position mod window, reads by position mod ring",
      .caught_by = {Invariant::kv_intact, Invariant::kv_fresh},
      .supports = ring_beyond_window,
  });
}

}  // namespace poolproof
