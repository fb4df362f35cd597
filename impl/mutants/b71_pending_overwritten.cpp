// B71, sgl-project/sglang#39982: two batches that end with one event share a list of what is pending, and the second
// one overwrites what the first one put there. Here the second free of a group. Needs: any pool. Expected first:
// CONSERVATION, or GROUP_DRAINS at the group's end.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class PendingOverwritten final : public Mutated<PendingOverwritten<Twin>, Twin> {
 public:
  using Mutated<PendingOverwritten<Twin>, Twin>::Mutated;

 protected:
  void give_back(Pool which, std::span<const Page> pages) override {
    if (this->group_open()) {
      this->deferred(which).assign(pages.begin(), pages.end());
    } else {
      Twin::give_back(which, pages);
    }
  }
};

}  // namespace

ImplInfo b71_pending_overwritten() {
  return any_layout_mutant<PendingOverwritten>({
      .name = "B71",
      .source = "sgl-project/sglang#39982",
      .mechanism = "a free inside a group overwrites what the one before it deferred",
      .caught_by = {Invariant::conservation, Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
