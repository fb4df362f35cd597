// Pause unmaps the memory and keeps its handle: the addresses are gone, and the device has not got a byte back. Only
// the driver's own count shows it. Needs: the saver on. Expected first: SAVER_FREES.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class KeepsHandle final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  SaverFault take_away(SavedBuffer& buffer) override { return memory().unmap(buffer.address, buffer.mapped_bytes); }
};

}  // namespace

SaverMutant saver_keeps_handle() {
  return {{.name = "saver-keeps-handle",
           .source = "seeded from cuMemRelease's contract",
           .mechanism = "pause unmaps memory and does not release it",
           .caught_by = {Invariant::saver_frees},
           .supports = pausable},
          with_saver<KeepsHandle>()};
}

}  // namespace poolproof
