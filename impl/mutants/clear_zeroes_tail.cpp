// clear and resize fill the whole mapping with zeros. Its last entry, which look-ups of loc -1 rely on, is gone.
// Needs: a hybrid pool. Expected first: TAIL_ENTRY.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class ClearZeroesTail final : public Mutated<ClearZeroesTail, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void clear_mapping() override {
    HybridAllocator::clear_mapping();
    mapping().set(-1, 0);
  }
};

}  // namespace

ImplInfo clear_zeroes_tail() {
  return hybrid_mutant<ClearZeroesTail>({
      .name = "clear-zeroes-tail",
      .source = "seeded from the mapping's last entry",
      .mechanism = "clear and resize zero the whole mapping, its last entry included",
      .caught_by = {Invariant::tail_entry},
      .supports = any_hybrid,
  });
}

}  // namespace poolproof
