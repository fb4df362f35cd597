// B22, sgl-project/sglang#36646: a second begin replaces the queue of the open group by an empty one, and what was
// queued so far is never returned.
// Needs: any pool. Expected first: CONSERVATION at a census inside the group, else GROUP_DRAINS at its end.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class GroupNestedBegin final : public Mutated<GroupNestedBegin<Twin>, Twin> {
 public:
  using Mutated<GroupNestedBegin<Twin>, Twin>::Mutated;

  Answer free_group_begin() override {
    this->deferred(Pool::full).clear();
    this->deferred(Pool::swa).clear();
    this->set_group_open(true);
    return Answer::served;
  }
};

}  // namespace

ImplInfo b22_group_nested_begin() {
  return any_layout_mutant<GroupNestedBegin>({
      .name = "B22",
      .source = "sgl-project/sglang#36646",
      .mechanism = "a nested begin empties the queue of the open group",
      .caught_by = {Invariant::conservation, Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
