// restore_state brings both pools back and leaves the mapping as it stands.
// Needs: a paired pool. Expected first: ROUND_TRIP.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class RestoreForgetsMapping final : public Mutated<RestoreForgetsMapping, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void restore_snapshot(const Snapshot& snapshot) override {
    restore_pool(Pool::full, snapshot.full);
    restore_pool(Pool::swa, snapshot.swa);
  }
};

}  // namespace

ImplInfo restore_forgets_mapping() {
  return hybrid_mutant<RestoreForgetsMapping>({
      .name = "restore-forgets-mapping",
      .source = "seeded from backup_state",
      .mechanism = "restore brings both pools back and leaves the mapping",
      .caught_by = {Invariant::round_trip},
      .supports = paired,
  });
}

}  // namespace poolproof
