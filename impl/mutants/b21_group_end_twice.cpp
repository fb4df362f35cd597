// B21, sgl-project/sglang#36739: closing a group clears the flag and leaves the queue, so a second close releases the
// same pages again.
// Needs: any pool. Expected first: GROUP_DRAINS, at the probe `group_end again` or at a census after the end.
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class GroupEndTwice final : public Mutated<GroupEndTwice<Twin>, Twin> {
 public:
  using Mutated<GroupEndTwice<Twin>, Twin>::Mutated;

  Answer free_group_begin() override {
    if (!this->group_open()) {
      this->deferred(Pool::full).clear();
      this->deferred(Pool::swa).clear();
    }
    return Twin::free_group_begin();
  }

  Answer free_group_end() override {
    this->set_group_open(false);
    this->close_group();
    return Answer::served;
  }

 protected:
  void close_group() override {
    for (const Pool which : {Pool::swa, Pool::full}) {
      sort_unique(this->deferred(which));
      this->return_pages(which, this->deferred(which));
    }
  }
};

}  // namespace

ImplInfo b21_group_end_twice() {
  return any_layout_mutant<GroupEndTwice>({
      .name = "B21",
      .source = "sgl-project/sglang#36739",
      .mechanism = "the end of a group keeps its queue, and a second end releases it again",
      .caught_by = {Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
