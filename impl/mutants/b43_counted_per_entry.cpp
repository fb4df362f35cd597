// B43, vllm-project/vllm#3347: a block that stands in the table twice is counted once an entry and not once a block,
// and given back as often. In an allocator without counts it is the fault of B41, seen elsewhere. Needs: any pool.
// Expected first: FREE_LIST_CLEAN.
#include "impl/mutants/repeated_pages.hpp"

namespace poolproof {

ImplInfo b43_counted_per_entry() {
  return any_layout_mutant<RepeatedPages>({
      .name = "B43",
      .source = "vllm-project/vllm#3347",
      .mechanism = "a page that a free names in two places is given back twice",
      .caught_by = {Invariant::free_list_clean},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
