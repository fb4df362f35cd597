#include "impl/saver/pool_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace poolproof {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20U;

/// Bytes of which no two places near each other are alike, and none is zero.
std::vector<std::byte> pattern_block() {
  std::vector<std::byte> block(block_bytes);
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<std::byte>(((i * 0x9E3779B97F4A7C15U) >> 56U) | 1U);
  }
  return block;
}

/// Weights that no block of which is like another: the pattern, and in front of it the block's number.
SaverFault fill_weights(MemorySaver& saver, const BuiltBuffer& weights) {
  std::vector<std::byte> block = pattern_block();
  const auto bytes = static_cast<std::size_t>(weights.plan.bytes());
  for (std::size_t at = 0; at < bytes; at += block_bytes) {
    const std::uint64_t number = at / block_bytes + 1;
    std::memcpy(block.data(), &number, sizeof number);
    const std::span<const std::byte> part = std::span<const std::byte>(block).first(std::min(block_bytes, bytes - at));
    if (SaverFault fault = saver.write(weights.id, static_cast<std::int64_t>(at), part)) {
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace

RegionOptions PoolBuilder::region_of(const BufferPlan& plan, const Geometry& g, bool enable) const {
  const bool weights = plan.tag() == MemoryTag::weights;
  return {std::string(memory_tag_name(plan.tag())), enable, weights || g.kv.saver == SaverMode::backup};
}

Result<std::vector<BuiltBuffer>, SaverError> PoolBuilder::build_pools(const Geometry& g, MemorySaver& saver) {
  return g.kv.kind == KvKind::mha ? build_mha(g, saver) : build_mla(g, saver);
}

/// The flag is the SWA pool's own argument, which goes to both sub-pools.
PoolBuilder::Built PoolBuilder::build_mha(const Geometry& g, MemorySaver& saver) const {
  return build_swa_pool(g, saver, flag(g) && wiring_.mha, {}, {});
}

/// The flag goes to the sub-pools by their own arguments, past the SWA pool's, which stays at its default.
PoolBuilder::Built PoolBuilder::build_mla(const Geometry& g, MemorySaver& saver) const {
  const bool enable = flag(g) && wiring_.mla;
  return build_swa_pool(g, saver, false, {enable}, {enable});
}

/// Without SWA layers there is the full sub-pool alone, built the same way.
PoolBuilder::Built PoolBuilder::build_swa_pool(const Geometry& g, MemorySaver& saver, bool enable_memory_saver,
                                               SubPoolArgs full, SubPoolArgs swa) const {
  std::vector<BuiltBuffer> built;
  SaverFault fault =
      build_sub_pool(g, saver, Pool::full, full.enable_memory_saver.value_or(enable_memory_saver), built);
  if (!fault && g.hybrid()) {
    fault = build_sub_pool(g, saver, Pool::swa, swa.enable_memory_saver.value_or(enable_memory_saver), built);
  }
  if (!fault) {
    return built;
  }
  for (const BuiltBuffer& buffer : built) {
    (void)saver.free(buffer.id);  // the lack of memory is the error to tell
  }
  return *std::move(fault);
}

SaverFault PoolBuilder::build_sub_pool(const Geometry& g, MemorySaver& saver, Pool pool, bool enable,
                                       std::vector<BuiltBuffer>& out) const {
  for (const BufferPlan& plan : planned_buffers(g)) {
    if (plan.pool != pool || plan.part == BufferPart::weights) {
      continue;
    }
    const bool index = plan.part == BufferPart::index_k;
    const MemorySaver::Region region(saver, region_of(plan, g, index ? flag(g) && wiring_.index_k : enable));
    Result<BufferId, SaverError> id = saver.allocate(plan.name(), plan.bytes());
    if (!id) {
      return id.error();
    }
    out.push_back({plan, *id});
  }
  return std::nullopt;
}

Result<std::optional<BuiltBuffer>, SaverError> PoolBuilder::build_weights(const Geometry& g, MemorySaver& saver) {
  const std::vector<BufferPlan> plan = planned_buffers(g);
  if (plan.empty() || plan.back().part != BufferPart::weights) {
    return std::optional<BuiltBuffer>();
  }
  const MemorySaver::Region region(saver, region_of(plan.back(), g, flag(g)));
  Result<BufferId, SaverError> id = saver.allocate(plan.back().name(), plan.back().bytes());
  if (!id) {
    return id.error();
  }
  const BuiltBuffer weights{plan.back(), *id};
  if (SaverFault fault = fill_weights(saver, weights)) {
    return *std::move(fault);
  }
  return std::optional<BuiltBuffer>(weights);
}

}  // namespace poolproof
