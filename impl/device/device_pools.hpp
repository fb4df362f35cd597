// The allocator on a device: the engine's paged and hybrid SWA allocators with lists, mapping and KV stamps in device
// memory, every answer left there. What a serving engine would link; DeviceTwin makes a checked Allocator of it.
//
// Nothing waits for the device unless it says so: whether a batch fits is decided from lengths that the caller has on
// the host, and from counts that the host keeps. Where those are lower bounds (a set-shaped free; the peers of any
// free) and do not suffice, the counts are learnt first, which waits.
//
// Index arrays in device memory are read in the order of calls: they may be overwritten by what is launched afterwards.
// Errors of the device are thrown as StorageError.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "impl/device/counters.hpp"
#include "impl/device/device.hpp"
#include "kernels/census.hpp"
#include "kernels/stamps.hpp"
#include "model/geometry.hpp"
#include "model/observation.hpp"

namespace poolproof {

class StateDigest;

/// A batch to extend: lengths on the host, to count from, and the same in device memory, to work on.
struct ExtendBatch {
  std::span<const Pos> prefix_lens;
  std::span<const Pos> seq_lens;
  const Pos* device_prefix_lens = nullptr;
  const Pos* device_seq_lens = nullptr;
  const Loc* device_last_locs = nullptr;
};

struct DecodeBatch {
  std::span<const Pos> seq_lens;
  const Pos* device_seq_lens = nullptr;
  const Loc* device_last_locs = nullptr;
};

/// A slice of a row in device memory, from a page-aligned position on.
struct DeviceSegment {
  const Loc* locs = nullptr;
  Tokens count = 0;
};

/// A recorded sequence of calls: what it needs to be free when it starts, and what a run of it leaves.
struct RecordedCalls {
  std::unique_ptr<Recording> recording;
  KnownCounts full_change;  ///< at_least: the change of the count
  KnownCounts swa_change;
  std::int64_t full_pages_needed = 0;
  std::int64_t swa_pages_needed = 0;
};

class DevicePools {
 public:
  /// The geometry is a checked one. Throws StorageError when memory does not suffice.
  DevicePools(std::shared_ptr<Device> device, const Geometry& geometry);
  virtual ~DevicePools() = default;
  DevicePools(DevicePools&&) = delete;
  DevicePools& operator=(DevicePools&&) = delete;
  [[nodiscard]] virtual std::unique_ptr<DevicePools> clone() const;
  /// Becomes a copy of `other`, a clone of this or of what this is a clone of.
  virtual void assign(const DevicePools& other) { *this = other; }

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] const std::shared_ptr<Device>& shared_device() const { return device_; }

  // Lending: `out` is device memory for exactly the new locs. One launch each.

  virtual Answer alloc(Tokens tokens, Loc* out);
  virtual Answer alloc_extend(const ExtendBatch& batch, Loc* out);
  virtual Answer alloc_decode(const DecodeBatch& batch, Loc* out);
  virtual Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                       Loc* out);

  // Giving back.

  /// One or two launches.
  virtual void free(Side side, const Loc* locs, std::int64_t count);
  /// One launch for up to 64 segments, of one row or of many.
  virtual void free_segments(Side side, std::span<const DeviceSegment> segments);
  /// False: one is open already, and stays as it is.
  virtual bool free_group_begin();
  /// False: none is open. One launch.
  virtual bool free_group_end();
  [[nodiscard]] bool group_open() const { return group_open_; }

  // The mapping.

  virtual void set_mapping(const Loc* full, const Loc* swa, std::int64_t count);
  virtual void clear_mapping(const Loc* full, std::int64_t count);
  void translate(const Loc* full, std::int64_t count, Loc* out);

  // The whole state; these may wait.

  virtual void clear();
  virtual void resize(Tokens full, Tokens swa);
  virtual void backup(std::uint32_t key);
  /// False: there is no such backup.
  virtual bool restore(std::uint32_t key);

  // KV. `batch` has locs and rows; where it leads is filled in here.

  void write_full(kernels::StampBatch batch);
  void read_full(kernels::StampBatch batch, Stamp* out);
  void write_swa(kernels::StampBatch batch);
  void read_swa(kernels::StampBatch batch, Stamp* out);
  /// The first position that reads otherwise; nothing when all is as it should be. Waits.
  [[nodiscard]] std::optional<kernels::StampMismatch> verify_full(kernels::StampBatch batch);
  [[nodiscard]] std::optional<kernels::StampMismatch> verify_swa(kernels::StampBatch batch);

  // Looking.

  /// What the device counts, in pages. Waits.
  DeviceCounters learn();
  /// free + staged, in tokens. Waits only when the host does not know.
  [[nodiscard]] Tokens available(Pool which);
  /// The whole-pool invariants that lists and mapping show by themselves. Waits.
  [[nodiscard]] kernels::CensusCounts census();
  /// The same without waiting: what it counts is left at census_counts().
  void launch_census();
  [[nodiscard]] const kernels::CensusCounts* census_counts() const {
    return reinterpret_cast<const kernels::CensusCounts*>(census_.data());
  }
  /// Lists as the contract has them: next to be lent first. Waits.
  void download_lists(Pool which, PoolCensus& out);
  void download_mapping(std::vector<Loc>& out);
  /// All that later answers depend on. Waits.
  virtual void digest(StateDigest& out) const;
  /// The mapping's last entry. Waits.
  [[nodiscard]] Loc mapping_tail();

  // Recorded calls (CUDA graphs).

  /// Calls that lend and give back, kept instead of made. They run with the arrays that they name.
  [[nodiscard]] RecordedCalls record(const std::function<void()>& calls);
  /// False: it does not fit, and nothing ran.
  bool replay(const RecordedCalls& calls);

 protected:
  struct PoolMemory {
    PoolMemory() = default;
    PoolMemory(const std::shared_ptr<Device>& device, std::int64_t pages);
    std::int64_t pages = 0;
    DeviceArray<Page> free;
    DeviceArray<Page> staged;
    DeviceArray<Page> deferred;
    DeviceArray<std::uint32_t> marks;
  };
  struct Snapshot {
    DeviceCounters counters;
    DeviceArray<Page> full_free, full_staged, swa_free, swa_staged;
    DeviceArray<Loc> mapping;
  };

  DevicePools(const DevicePools& other);
  DevicePools& operator=(const DevicePools& other);

  // The steps. Mutants in device code override one, to launch a kernel of their own.

  virtual void launch_extend(const kernels::ExtendKernel& kernel, std::int64_t blocks);
  virtual void launch_decode(const kernels::DecodeKernel& kernel, std::int64_t blocks);
  virtual void launch_tail(const kernels::TailKernel& kernel, std::int64_t blocks);
  virtual void launch_free_segments(const kernels::FreeSegmentsKernel& kernel, std::int64_t blocks);
  virtual void launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks);
  virtual void launch_detach(const kernels::DetachKernel& kernel, std::int64_t blocks);
  virtual void launch_close_group(const kernels::CloseGroupKernel& kernel, std::int64_t blocks);
  virtual void launch_write(const kernels::WriteStampsKernel& kernel, std::int64_t blocks);
  virtual void launch_map_set(const kernels::MapSetKernel& kernel, std::int64_t blocks);
  /// May both pools serve? Staged pages are merged if that takes it; no page is given up before this is known.
  virtual bool make_joint_room(std::int64_t full_pages, std::int64_t swa_pages);
  virtual void merge(Pool which);
  /// Closing: what the host knows after the deferred pages went back.
  virtual void settle_group();

  [[nodiscard]] kernels::PoolsView view();
  [[nodiscard]] KnownCounts& known(Pool which) { return which == Pool::full ? known_full_ : known_swa_; }
  [[nodiscard]] kernels::Target target() const;
  [[nodiscard]] PoolMemory& memory(Pool which) { return which == Pool::full ? full_ : swa_; }
  [[nodiscard]] bool lends_swa() const { return geometry_.paired(); }
  [[nodiscard]] std::int64_t pages_of(Tokens tokens) const { return geometry_.pages_of(tokens); }
  void upload_counters(const DeviceCounters& counters);

 private:
  void build();
  void fill();
  bool make_room(Pool which, std::int64_t pages);
  void note_lent(std::int64_t full_pages, std::int64_t swa_pages);
  void note_returned(Pool which, std::int64_t pages, bool exact);
  [[nodiscard]] KnownCount& list_of(Pool which, kernels::Target target);
  Answer extend(const kernels::BatchView& batch, std::int64_t blocks, std::int64_t pages, Loc* out);
  [[nodiscard]] std::optional<kernels::StampMismatch> verify(const kernels::StampBatch& batch);
  void aim_full(kernels::StampBatch& batch);
  void aim_swa(kernels::StampBatch& batch);

  std::shared_ptr<Device> device_;
  Geometry geometry_;
  int shift_ = 0;
  PoolMemory full_;
  PoolMemory swa_;
  DeviceArray<Loc> mapping_;
  DeviceArray<DeviceCounters> counters_;
  DeviceArray<Page> touched_;
  DeviceArray<Page> merge_scratch_;
  DeviceArray<Stamp> full_kv_;
  DeviceArray<Stamp> swa_kv_;
  DeviceArray<kernels::StampMismatch> mismatch_;
  DeviceArray<std::uint32_t> census_;  ///< its counts, then its bitmaps: taken down at once
  KnownCounts known_full_;
  KnownCounts known_swa_;
  bool group_open_ = false;
  std::map<std::uint32_t, Snapshot> snapshots_;
  RecordedCalls* recording_ = nullptr;
};

}  // namespace poolproof
