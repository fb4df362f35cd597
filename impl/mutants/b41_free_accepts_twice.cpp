// B41, LMCache/LMCache#5005: a page that two holders release in one call enters the free list twice, and two live
// owners share it afterwards. Repeats that stand next to each other are dropped, others are not. Needs: any pool, and a
// set-shaped free that names a page twice. Expected first: FREE_LIST_CLEAN.
#include "impl/mutants/repeated_pages.hpp"

namespace poolproof {

ImplInfo b41_free_accepts_twice() {
  return any_layout_mutant<RepeatedPages>({
      .name = "B41",
      .source = "LMCache/LMCache#5005",
      .mechanism = "a page that one call names twice is returned twice",
      .caught_by = {Invariant::free_list_clean},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
