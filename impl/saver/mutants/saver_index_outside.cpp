// Index-K of the full layers is allocated outside of the region that the pool is built in. Needs: DSA. Expected first:
// SAVER_FREES.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {

SaverMutant saver_index_outside() {
  return {{.name = "saver-index-outside",
           .source = "sgl-project/sglang#32213",
           .mechanism = "index-K is allocated outside of the memory saver's region",
           .caught_by = {Invariant::saver_frees},
           .supports = pausable_index},
          wired({.index_k = false})};
}

}  // namespace poolproof
