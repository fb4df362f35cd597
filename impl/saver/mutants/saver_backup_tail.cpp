// The backup copies whole granules and loses the last partial one. Needs: something that is backed up. Expected first:
// SAVER_ZERO.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class LosesTail final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  SaverFault restore(SavedBuffer& buffer) override {
    const std::int64_t whole = buffer.bytes / memory().granule_bytes() * memory().granule_bytes();
    buffer.content.resize(static_cast<std::size_t>(whole));
    return MemorySaver::restore(buffer);
  }
};

}  // namespace

SaverMutant saver_backup_tail() {
  return {{.name = "saver-backup-tail",
           .source = "fzyzcjy/torch_memory_saver#71",
           .mechanism = "a backup loses the last partial granule",
           .caught_by = {Invariant::saver_zero},
           .supports = [](const Geometry& g) { return pausable(g) && g.kv.weights_bytes > 0; }},
          with_saver<LosesTail>()};
}

}  // namespace poolproof
