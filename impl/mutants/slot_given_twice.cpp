// Giving a request slot back overwrites a neighbour's entry of the free list as well: the count is right, one slot goes
// to two requests and another to none.
// Needs: two request slots. Expected first: RING_SLOT_EXCLUSIVE.
#include <utility>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class SlotGivenTwice final : public Mutated<SlotGivenTwice<Twin>, Twin> {
 public:
  using Mutated<SlotGivenTwice<Twin>, Twin>::Mutated;

  Answer give_slot(std::int64_t slot) override {
    std::vector<std::int64_t> free = this->slots().free_list();
    if (!free.empty()) {
      free.back() = slot;
    }
    free.push_back(slot);
    this->slots().set_free_list(std::move(free));
    return Answer::served;
  }
};

}  // namespace

ImplInfo slot_given_twice() {
  return any_layout_mutant<SlotGivenTwice>({
      .name = "slot-given-twice",
      .source = "seeded from the request-slot pool",
      .mechanism = "giving a slot back overwrites another free slot's entry as well",
      .caught_by = {Invariant::ring_slot_exclusive},
      .supports = two_slots,
  });
}

}  // namespace poolproof
