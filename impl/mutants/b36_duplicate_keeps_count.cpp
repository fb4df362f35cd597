// B36, FlashML-org/FreeToken#204: the full pool's free list holds pages twice and lacks as many others, so that its
// count is right; one page is lent to two owners, and the assert that shows is in the SWA count, much later.
// Needs: any pool. Expected first: FREE_LIST_CLEAN at a census, else NO_DOUBLE_LEND when the page is lent twice
// (GROUP_DEFERS while one of the two is deferred).
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class DuplicateKeepsCount final : public Mutated<DuplicateKeepsCount<Twin>, Twin> {
 public:
  using Mutated<DuplicateKeepsCount<Twin>, Twin>::Mutated;

 protected:
  void return_pages(Pool which, std::span<const Page> pages) override {
    std::vector<Page> returned(pages.begin(), pages.end());
    if (which == Pool::full && !returned.empty()) {
      returned.back() = returned.front();
    }
    Twin::return_pages(which, returned);
  }
};

}  // namespace

ImplInfo b36_duplicate_keeps_count() {
  return any_layout_mutant<DuplicateKeepsCount>({
      .name = "B36",
      .source = "FlashML-org/FreeToken#204",
      .mechanism = "a free puts its first page into the free list twice and loses its last, so the count is right",
      .caught_by = {Invariant::free_list_clean, Invariant::no_double_lend, Invariant::group_defers},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
