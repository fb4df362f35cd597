// restore_state brings the free list back and leaves the staged list as it stands.
// Needs: need_sort. Expected first: ROUND_TRIP; where the count happens to be right FREE_LIST_CLEAN or CONSERVATION at
// a census, else NO_DOUBLE_LEND.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class RestoreForgetsStaged final : public Mutated<RestoreForgetsStaged<Twin>, Twin> {
 public:
  using Mutated<RestoreForgetsStaged<Twin>, Twin>::Mutated;

 protected:
  void restore_pool(Pool which, const PageLists& lists) override {
    PagePool& pool = this->pool(which);
    pool.set_lists({lists.free, pool.lists().staged});
  }
};

}  // namespace

ImplInfo restore_forgets_staged() {
  return any_layout_mutant<RestoreForgetsStaged>({
      .name = "restore-forgets-staged",
      .source = "seeded from backup_state",
      .mechanism = "restore brings the free list back and leaves the staged one",
      .caught_by = {Invariant::round_trip, Invariant::free_list_clean, Invariant::conservation,
                    Invariant::no_double_lend},
      .supports = staging,
  });
}

}  // namespace poolproof
