// A second pause of what is paused is taken for done: who counts on its answer believes that memory was freed. Needs:
// the saver on. Expected first: SAVER_STABLE.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class PauseTwice final : public SavedPools {
 public:
  using SavedPools::SavedPools;

  Answer pause(MemoryTag tag) override {
    const Answer answer = SavedPools::pause(tag);
    return answer == Answer::refused ? Answer::served : answer;
  }
};

}  // namespace

SaverMutant saver_pause_twice() {
  return {{.name = "saver-pause-twice",
           .source = "seeded from the saver's contract",
           .mechanism = "pausing what is paused is not an error",
           .caught_by = {Invariant::saver_stable},
           .supports = pausable},
          with_pools<PauseTwice>()};
}

}  // namespace poolproof
