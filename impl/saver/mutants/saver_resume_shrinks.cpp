// Resume takes less memory than was given up: the pool comes back smaller than its tensors say. Needs: the saver on.
// Expected first: SAVER_STABLE.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class Shrinks final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  SaverFault put_back(SavedBuffer& buffer, MemoryHandle handle) override {
    buffer.bytes = (buffer.bytes + 1) / 2;
    return MemorySaver::put_back(buffer, handle);
  }
};

}  // namespace

SaverMutant saver_resume_shrinks() {
  return {{.name = "saver-resume-shrinks",
           .source = "ROCm/ATOM#2267",
           .mechanism = "resume brings a buffer back in half its size",
           .caught_by = {Invariant::saver_stable},
           .supports = pausable},
          with_saver<Shrinks>()};
}

}  // namespace poolproof
