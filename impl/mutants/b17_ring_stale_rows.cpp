// B17, sgl-project/sglang#30339: a ring row carries no owner, so what a former holder of the slot left passes for the
// new one's. Here a write is left out when the row already holds its position, and taking a slot does not begin a new
// generation.
// Needs: a ring, and a slot taken again. Expected first: KV_FRESH, at the new owner's read.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "impl/mutants/mutants.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

class RingStaleRows final : public Mutated<RingStaleRows, HybridAllocator> {
 public:
  RingStaleRows(const Geometry& geometry, std::shared_ptr<const Storage> storage)
      : Mutated(geometry, std::move(storage)) {
    forget_rows();
  }

  Answer resize(Tokens full, Tokens swa) override {
    forget_rows();
    return HybridAllocator::resize(full, swa);
  }

  bool digest(StateDigest& out) const override {
    out.numbers(positions_);
    return HybridAllocator::digest(out);
  }

  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override {
    const std::span<const std::int64_t> rows = swa_rows(full_locs, slot, first_pos);
    std::vector<std::int64_t> written;
    std::vector<Stamp> written_stamps;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Pos pos = first_pos + static_cast<Pos>(i);
      Pos& held = positions_[static_cast<std::size_t>(rows[i])];
      if (held != pos) {
        held = pos;
        written.push_back(rows[i]);
        written_stamps.push_back(stamps[i]);
      }
    }
    swa_kv().store(written, written_stamps);
    return Answer::served;
  }

 private:
  void forget_rows() { positions_.assign(static_cast<std::size_t>((geometry().reqs + 1) * geometry().ring), -1); }

  std::vector<Pos> positions_;  ///< by ring row: the position that it holds
};

}  // namespace

ImplInfo b17_ring_stale_rows() {
  return hybrid_mutant<RingStaleRows>({
      .name = "B17",
      .source = "sgl-project/sglang#30339",
      .mechanism = "ring rows of a slot's former owner pass for the new owner's when they hold the same position",
      .caught_by = {Invariant::kv_fresh},
      .supports = ringed,
  });
}

}  // namespace poolproof
