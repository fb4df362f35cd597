// B11, ovg-project/kvcached#398: the free list starts at page 0, so the padding page goes to a real request and the
// last page to nobody.
// Needs: any pool. Expected first: SENTINEL_UNTOUCHED, at the first lending.
#include <memory>
#include <utility>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class FreeListFromZero final : public Mutated<FreeListFromZero<Twin>, Twin> {
 public:
  FreeListFromZero(const Geometry& geometry, std::shared_ptr<const Storage> storage)
      : Mutated<FreeListFromZero<Twin>, Twin>(geometry, std::move(storage)) {
    seed();
  }

  Answer clear() override {
    const Answer answer = Twin::clear();
    seed();
    return answer;
  }
  Answer resize(Tokens full, Tokens swa) override {
    const Answer answer = Twin::resize(full, swa);
    seed();
    return answer;
  }

 private:
  void seed() {
    PageLists lists = this->pool(Pool::full).lists();
    for (Page& page : lists.free) {
      --page;
    }
    this->pool(Pool::full).set_lists(lists);
  }
};

}  // namespace

ImplInfo b11_free_list_from_zero() {
  return any_layout_mutant<FreeListFromZero>({
      .name = "B11",
      .source = "ovg-project/kvcached#398",
      .mechanism = "the free list is seeded from page 0 instead of page 1",
      .caught_by = {Invariant::sentinel_untouched},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
