// Resume maps the memory wherever the driver likes: the pool's tensors point to where it was. Needs: the saver on.
// Expected first: SAVER_STABLE.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class Moves final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  SaverFault put_back(SavedBuffer& buffer, MemoryHandle handle) override {
    Result<Address, SaverError> elsewhere = memory().reserve(buffer.mapped_bytes);
    if (!elsewhere) {
      return elsewhere.error();
    }
    memory().unreserve(buffer.address, buffer.mapped_bytes);
    buffer.address = *elsewhere;
    return MemorySaver::put_back(buffer, handle);
  }
};

}  // namespace

SaverMutant saver_moves() {
  return {{.name = "saver-moves",
           .source = "seeded from what captured graphs rely on",
           .mechanism = "resume puts a buffer at another address",
           .caught_by = {Invariant::saver_stable},
           .supports = pausable},
          with_saver<Moves>()};
}

}  // namespace poolproof
