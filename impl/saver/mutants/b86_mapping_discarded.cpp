// B86, fzyzcjy/torch_memory_saver#85: the tag covers too much: the mapping lies in the region that is given up, and is
// lost with it, while the pool's pages stay lent. Needs: a hybrid pool without ring, KV that is not backed up. Expected
// first: MAPPING_TOTAL.
#include <numeric>
#include <vector>

#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class MappingDiscarded final : public Mutated<MappingDiscarded, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer gauges(Gauges& out) override {
    const std::uint64_t resumes = saved_pools(storage()).resumes();
    if (resumes != resumes_) {
      resumes_ = resumes;
      std::vector<Loc> all(static_cast<std::size_t>(geometry().full + geometry().page));
      std::iota(all.begin(), all.end(), Loc{0});
      mapping().clear(all);
    }
    return HybridAllocator::gauges(out);
  }

 private:
  std::uint64_t resumes_ = 0;
};

SaverParts discarded() {
  SaverParts parts;
  parts.twin = [](const Geometry& g, std::shared_ptr<const Storage> storage) {
    return std::make_unique<MappingDiscarded>(g, std::move(storage));
  };
  return parts;
}

}  // namespace

SaverMutant b86_mapping_discarded() {
  return {{.name = "B86",
           .source = "fzyzcjy/torch_memory_saver#85",
           .mechanism = "the mapping lies in the region that a pause gives up",
           .caught_by = {Invariant::mapping_total},
           .supports = [](const Geometry& g) { return g.paired() && g.kv.saver == SaverMode::on; }},
          discarded()};
}

}  // namespace poolproof
