// The MHA builder alone passes the flag on: it goes through the SWA pool's own argument, which the MLA and DSA builders
// go past. Needs: MLA or DSA. Expected first: SAVER_FREES.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {

SaverMutant saver_mha_alone() {
  return {{.name = "saver-mha-alone",
           .source = "sgl-project/sglang#24661",
           .mechanism = "the MHA builder alone passes the memory saver's flag on",
           .caught_by = {Invariant::saver_frees},
           .supports = [](const Geometry& g) { return pausable(g) && g.kv.kind != KvKind::mha; }},
          wired({.mha = true, .mla = false, .index_k = false})};
}

}  // namespace poolproof
