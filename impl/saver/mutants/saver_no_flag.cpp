// No builder passes `enable_memory_saver` on: everything stays resident (SPEC of the first tree;
// sgl-project/sglang#22807). Needs: the saver on. Expected first: SAVER_FREES.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {

SaverMutant saver_no_flag() {
  return {{.name = "saver-no-flag",
           .source = "sgl-project/sglang#22807",
           .mechanism = "no pool builder passes the memory saver's flag on",
           .caught_by = {Invariant::saver_frees},
           .supports = pausable},
          wired({.mha = false, .mla = false, .index_k = false})};
}

}  // namespace poolproof
