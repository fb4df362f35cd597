// A pause by tag reaches every tag: releasing the weights takes the KV of running requests. Needs: weights beside the
// pool. Expected first: SAVER_TAGGED,
// or SERVED_WHEN_FITS where another tag is paused already.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class TakesAllTags final : public MemorySaver {
 public:
  using MemorySaver::MemorySaver;

 protected:
  [[nodiscard]] bool reaches(std::string_view /*tag*/, const SavedBuffer& /*buffer*/) const override { return true; }
};

}  // namespace

SaverMutant saver_takes_all_tags() {
  return {{.name = "saver-takes-all-tags",
           .source = "fzyzcjy/torch_memory_saver#85",
           .mechanism = "pause of one tag reaches the buffers of all tags",
           .caught_by = {Invariant::saver_tagged, Invariant::served_when_fits},
           .supports = [](const Geometry& g) { return pausable(g) && g.kv.weights_bytes > 0; }},
          with_saver<TakesAllTags>()};
}

}  // namespace poolproof
