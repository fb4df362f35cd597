// The pool's last buffer is allocated while the weights' region is still open: it carries a foreign tag, stays when the
// pool is paused, and goes when the weights are. Needs: weights. Expected first: SAVER_FREES, or SAVER_TAGGED.
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class ForeignTag final : public PoolBuilder {
 protected:
  [[nodiscard]] RegionOptions region_of(const BufferPlan& plan, const Geometry& g, bool enable) const override {
    RegionOptions options = PoolBuilder::region_of(plan, g, enable);
    if (plan.pool == Pool::full && plan.layer == g.kv.full_layer_count() - 1 && plan.part != BufferPart::weights) {
      options.tag = memory_tag_name(MemoryTag::weights);
    }
    return options;
  }
};

}  // namespace

SaverMutant saver_foreign_tag() {
  return {{.name = "saver-foreign-tag",
           .source = "fzyzcjy/torch_memory_saver#85",
           .mechanism = "the last full layer is built under the weights' tag",
           .caught_by = {Invariant::saver_frees, Invariant::saver_tagged},
           .supports = [](const Geometry& g) { return pausable(g) && g.kv.weights_bytes > 0; }},
          with_builder<ForeignTag>()};
}

}  // namespace poolproof
