// B31, ovg-project/kvcached#430: an allocation is served from several sources, and the last one fails after the first
// ones have given: what was taken is not given back. Here the full pages are gone when the SWA pool turns out to be
// short. Needs: a paired pool. Expected first: ALL_OR_NOTHING.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class NoRollback final : public Mutated<NoRollback, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  bool make_joint_room(std::int64_t full_pages, std::int64_t swa_pages) override {
    if (!make_room(Pool::full, full_pages)) {
      return false;
    }
    if (make_room(Pool::swa, swa_pages)) {
      return true;
    }
    lend(Pool::full, full_pages * geometry().page, taken_);
    return false;
  }

 private:
  Locs taken_;
};

}  // namespace

ImplInfo b31_no_rollback() {
  return hybrid_mutant<NoRollback>({
      .name = "B31",
      .source = "ovg-project/kvcached#430",
      .mechanism = "a lending that the SWA pool refuses keeps the full pages that it had taken",
      .caught_by = {Invariant::all_or_nothing},
      .supports = paired,
  });
}

}  // namespace poolproof
