// With the flag off the builder still opens a region that acts, and a pause takes the pool's memory from an engine that
// never asked for a saver. Needs: the saver off. Expected first: SAVER_OFF.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class FlagIgnored final : public PoolBuilder {
 protected:
  [[nodiscard]] bool flag(const Geometry& /*g*/) const override { return true; }
};

SaverParts acting() {
  SaverParts parts = with_builder<FlagIgnored>();
  parts.saver = [](std::shared_ptr<VirtualMemory> memory, bool /*enabled*/) {
    return std::make_unique<MemorySaver>(std::move(memory), true);
  };
  return parts;
}

}  // namespace

SaverMutant saver_off_acts() {
  return {{.name = "saver-off-acts",
           .source = "seeded from the flag's other direction",
           .mechanism = "the region acts although the flag is off",
           .caught_by = {Invariant::saver_off},
           .supports = [](const Geometry& g) { return g.kv.saver == SaverMode::off; }},
          acting()};
}

}  // namespace poolproof
