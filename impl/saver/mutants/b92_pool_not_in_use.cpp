// B92, ovg-project/kvcached#468: the pool that can be paused is built, and another one is used: the engine imported the
// allocator past the replacement. Needs: the saver on. Expected first: KV_INTACT, since what was written is not in the
// buffers.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

SaverParts not_in_use() {
  SaverParts parts;
  parts.kv_elsewhere = true;
  return parts;
}

}  // namespace

SaverMutant b92_pool_not_in_use() {
  return {{.name = "B92",
           .source = "ovg-project/kvcached#468",
           .mechanism = "KV is kept elsewhere than in the buffers that are paused",
           .caught_by = {Invariant::kv_intact},
           .supports = pausable},
          not_in_use()};
}

}  // namespace poolproof
