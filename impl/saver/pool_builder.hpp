// The pool builders of an engine: what they allocate, and how `enable_memory_saver` travels from the builder to each
// buffer. SGLang builds an SWA pool of two sub-pools; its MHA builder hands the flag over as the SWA pool's own
// argument, its MLA and DSA builders as explicit arguments of the sub-pools, and index-K has a region of its own. Each
// of these ways can be forgotten by itself (docs/saver.md; sgl-project/sglang#22807, #24661, #32213).
#pragma once

#include <optional>
#include <vector>

#include "impl/saver/memory_saver.hpp"
#include "model/geometry.hpp"
#include "model/kv_memory.hpp"
#include "model/result.hpp"

namespace poolproof {

/// What the builders pass on.
struct Wiring {
  bool mha = true;      ///< the MHA builder, through the SWA pool's own argument
  bool mla = true;      ///< the MLA and DSA builders, through the sub-pools' arguments
  bool index_k = true;  ///< index-K is allocated in a region
};

/// A buffer that was built, and what it was planned as.
struct BuiltBuffer {
  BufferPlan plan;
  BufferId id = 0;
};

class PoolBuilder {
 public:
  explicit PoolBuilder(Wiring wiring = {}) : wiring_(wiring) {}
  virtual ~PoolBuilder() = default;
  PoolBuilder(const PoolBuilder&) = delete;
  PoolBuilder(PoolBuilder&&) = delete;
  PoolBuilder& operator=(const PoolBuilder&) = delete;
  PoolBuilder& operator=(PoolBuilder&&) = delete;

  /// The buffers of the pools, in the order of planned_buffers(). On an error nothing is left allocated.
  Result<std::vector<BuiltBuffer>, SaverError> build_pools(const Geometry& g, MemorySaver& saver);
  /// The weights, which are filled; nothing when there are none.
  Result<std::optional<BuiltBuffer>, SaverError> build_weights(const Geometry& g, MemorySaver& saver);

 protected:
  /// The region that a buffer is allocated in; `enable` is what reached its sub-pool of the flag.
  [[nodiscard]] virtual RegionOptions region_of(const BufferPlan& plan, const Geometry& g, bool enable) const;
  /// The builder's flag.
  [[nodiscard]] virtual bool flag(const Geometry& g) const { return g.kv.saver != SaverMode::off; }

 private:
  /// What the SWA pool's constructor gets for one of its sub-pools: nothing leaves it to the SWA pool's own argument.
  struct SubPoolArgs {
    std::optional<bool> enable_memory_saver;
  };
  using Built = Result<std::vector<BuiltBuffer>, SaverError>;

  Built build_mha(const Geometry& g, MemorySaver& saver) const;
  Built build_mla(const Geometry& g, MemorySaver& saver) const;
  Built build_swa_pool(const Geometry& g, MemorySaver& saver, bool enable_memory_saver, SubPoolArgs full,
                       SubPoolArgs swa) const;
  SaverFault build_sub_pool(const Geometry& g, MemorySaver& saver, Pool pool, bool enable,
                            std::vector<BuiltBuffer>& out) const;

  Wiring wiring_;
};

}  // namespace poolproof
