// What the host twins share: two pools of pages (the second one empty where the layout has no SWA pool), the free
// group, request slots and the KV of full-attention layers. Pools, mapping and KV are kept by a storage, which is this
// process's memory unless another one is given; a group and request slots are the twin's own.
//
// The protected virtual functions are the single steps of the engine's allocator. Each mutant in impl/mutants/ plants
// its bug by overriding one of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/host/cloned.hpp"
#include "impl/host/kv_store.hpp"
#include "impl/host/page_pool.hpp"
#include "impl/host/request_slots.hpp"
#include "impl/host/storage.hpp"
#include "model/geometry.hpp"

namespace poolproof {

class HostAllocator : public Allocator {
 public:
  Answer free(Side side, std::span<const Loc> locs) override;
  Answer free_segments(Side side, std::span<const Segment> segments) override;
  Answer free_group_begin() override;
  Answer free_group_end() override;

  // A layout without a mapping fails these; they are not called there.
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override;
  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override;
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override;
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override;
  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override;
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override;
  [[nodiscard]] std::string failure() const override;

  Answer clear() override;
  Answer resize(Tokens full, Tokens swa) override;

  Answer take_slot(std::int64_t& slot) override;
  Answer give_slot(std::int64_t slot) override;

  Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) override;
  Answer read_full(std::span<const Loc> full_locs, std::span<Stamp> out) override;

  Answer gauges(Gauges& out) override;
  Answer census(Census& out) override;
  bool digest(StateDigest& out) const override;
  [[nodiscard]] PoolMemory* memory() override { return storage_->memory(); }

 protected:
  HostAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage);

  // The steps.

  /// May `pages` be lent from the pool? Staged pages are merged if that takes it.
  virtual bool make_room(Pool which, std::int64_t pages);
  /// Once there is room: the engine's kernels. `out` is resized to the new locs.
  virtual void lend(Pool which, Tokens tokens, Locs& out);
  virtual void lend_extend(Pool which, std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                           std::span<const Loc> last_locs, Locs& out);
  virtual void lend_decode(Pool which, std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out);
  /// The pages of a set-shaped free: ascending, each once.
  virtual void collect_pages(std::span<const Loc> locs, std::vector<Page>& out);
  /// The pages of a segment-shaped free: one representative a page, in row order.
  virtual void collect_segment_pages(std::span<const Segment> segments, std::vector<Page>& out);
  /// What a free does with the full pages that it touches.
  virtual void free_pages(Side side, std::span<const Page> full_pages) = 0;
  /// Gives pages back now, or at the end of the open group.
  virtual void give_back(Pool which, std::span<const Page> pages);
  /// Puts pages into the pool's free list (need_sort: the staged list).
  virtual void return_pages(Pool which, std::span<const Page> pages);
  /// Returns what the group deferred, SWA side first.
  virtual void close_group();
  /// Brings back the lists of one pool.
  virtual void restore_pool(Pool which, const PageLists& lists);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const Storage& storage() const { return *storage_; }
  [[nodiscard]] PagePool& pool(Pool which) { return *pools_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const PagePool& pool(Pool which) const { return *pools_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] std::vector<Page>& deferred(Pool which) { return deferred_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool group_open() const { return group_open_; }
  void set_group_open(bool open) { group_open_ = open; }
  [[nodiscard]] RequestSlots& slots() { return slots_; }
  [[nodiscard]] KvStore& full_kv() { return *full_kv_; }

 private:
  using Pools = std::array<Cloned<PagePool>, 2>;

  [[nodiscard]] Pools new_pools() const;
  [[nodiscard]] Cloned<KvStore> new_full_kv() const;
  void forget_group();

  std::shared_ptr<const Storage> storage_;  ///< before its pieces: it outlives them
  Geometry geometry_;
  Pools pools_;
  bool group_open_ = false;
  std::array<std::vector<Page>, 2> deferred_;
  RequestSlots slots_;
  Cloned<KvStore> full_kv_;
  std::vector<Page> touched_;  ///< scratch
};

}  // namespace poolproof
