// The pools of an allocator in a memory saver's regions: what a trace's `pause`, `resume`, `destroy`, `build` and
// `flush` reach, and where its KV is kept. One stamp stands at the front of each token's row, in every buffer of a
// side: what is lost in one layer alone shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "impl/pool_memory.hpp"
#include "impl/saver/memory_saver.hpp"
#include "impl/saver/pool_builder.hpp"
#include "model/geometry.hpp"

namespace poolproof {

/// Every error of the saver's but a refusal is thrown as StorageError.
class SavedPools : public PoolMemory {
 public:
  /// Builds weights and pools.
  SavedPools(const Geometry& geometry, std::unique_ptr<MemorySaver> saver, std::unique_ptr<PoolBuilder> builder);

  Answer pause(MemoryTag tag) override;
  Answer resume(MemoryTag tag) override;
  Answer destroy() override;
  Answer build() override;
  Answer flush() override { return Answer::served; }
  Answer report(MemoryReport& out) override;

  /// Row rows[i] of every buffer of the side = stamps[i].
  void store(Pool side, std::span<const std::int64_t> rows, std::span<const Stamp> stamps);
  /// out[i] = what row rows[i] holds; where one buffer differs from the first, what that one holds.
  void load(Pool side, std::span<const std::int64_t> rows, std::span<Stamp> out);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] MemorySaver& saver() { return *saver_; }
  /// The pools' buffers; none while they are destroyed.
  [[nodiscard]] const std::vector<BuiltBuffer>& buffers() const { return buffers_; }
  /// Is memory under the tag paused now?
  [[nodiscard]] bool paused(MemoryTag tag) const;
  /// Resumes of `kv_cache` that were served.
  [[nodiscard]] std::uint64_t resumes() const { return resumes_; }

 protected:
  /// One buffer's part of load().
  virtual void load_buffer(const BuiltBuffer& buffer, std::span<const std::int64_t> rows, std::span<Stamp> out);

 private:
  void build_all();

  Geometry geometry_;
  std::unique_ptr<MemorySaver> saver_;
  std::unique_ptr<PoolBuilder> builder_;
  std::vector<BuiltBuffer> buffers_;
  std::uint64_t resumes_ = 0;
  std::vector<Stamp> scratch_;
};

}  // namespace poolproof
