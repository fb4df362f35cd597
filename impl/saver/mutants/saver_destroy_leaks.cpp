// Destroying the pools forgets the buffer that was built last. Needs: the saver on, where every byte is counted.
// Expected first: SAVER_FREES.
#include "impl/saver/demand.hpp"
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class DestroyLeaks final : public SavedPools {
 public:
  using SavedPools::SavedPools;

  Answer destroy() override {
    const BufferPlan last = buffers().back().plan;
    const Answer answer = SavedPools::destroy();
    const MemorySaver::Region region(saver(), {std::string(memory_tag_name(MemoryTag::kv_cache)), true, false});
    demand(saver().allocate("kept." + last.name(), last.bytes()));
    return answer;
  }
};

}  // namespace

SaverMutant saver_destroy_leaks() {
  return {{.name = "saver-destroy-leaks",
           .source = "seeded from repeated engine start-ups in one process",
           .mechanism = "destroying the pools keeps as much memory as the last buffer took",
           .caught_by = {Invariant::saver_frees},
           .supports = pausable},
          with_pools<DestroyLeaks>()};
}

}  // namespace poolproof
