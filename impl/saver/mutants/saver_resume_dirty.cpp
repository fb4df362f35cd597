// Resume hands out memory as the driver gives it, with whatever was in it before. Needs: KV that is not backed up.
// Expected first: SAVER_ZERO.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class Dirty final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  SaverFault put_back(SavedBuffer& buffer, MemoryHandle handle) override {
    SaverFault fault = MemorySaver::put_back(buffer, handle);
    return fault ? fault : memory().fill(buffer.address, buffer.bytes, std::byte{0xAB});
  }
};

}  // namespace

SaverMutant saver_resume_dirty() {
  return {{.name = "saver-resume-dirty",
           .source = "seeded from cuMemCreate's contract",
           .mechanism = "resume does not clear the memory that it maps",
           .caught_by = {Invariant::saver_zero},
           .supports = [](const Geometry& g) { return g.kv.saver == SaverMode::on; }},
          with_saver<Dirty>()};
}

}  // namespace poolproof
