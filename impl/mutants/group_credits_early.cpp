// Frees inside a group return their pages at the call; the end has nothing left to do.
// Needs: any pool. Expected first: GROUP_DEFERS.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class GroupCreditsEarly final : public Mutated<GroupCreditsEarly<Twin>, Twin> {
 public:
  using Mutated<GroupCreditsEarly<Twin>, Twin>::Mutated;

 protected:
  void give_back(Pool which, std::span<const Page> pages) override { this->return_pages(which, pages); }
};

}  // namespace

ImplInfo group_credits_early() {
  return any_layout_mutant<GroupCreditsEarly>({
      .name = "group-credits-early",
      .source = "seeded from the free group",
      .mechanism = "frees inside a group are returned at the call",
      .caught_by = {Invariant::group_defers},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
