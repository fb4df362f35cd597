// Two pools joined by full_to_swa_index_mapping: the engine's SWATokenToKVPoolAllocator, paged or token, and its ring
// mode, where SWA KV lives in request slots and the paged SWA pool lends nothing and gets nothing back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "impl/host/host_allocator.hpp"
#include "impl/host/mapping.hpp"

namespace poolproof {

class HybridAllocator : public HostAllocator {
 public:
  explicit HybridAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage = host_storage());

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  bool assign(const Allocator& other) override;
  bool digest(StateDigest& out) const override;

  Answer alloc(Tokens tokens, Locs& out) override;
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override;
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override;
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override;

  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override;
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override;
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override;

  Answer clear() override;
  Answer resize(Tokens full, Tokens swa) override;
  Answer backup_state(std::uint32_t key) override;
  Answer restore_state(std::uint32_t key) override;

  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override;
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override;

  Answer gauges(Gauges& out) override;
  Answer census(Census& out) override;

 protected:
  struct Snapshot {
    PageLists full;
    PageLists swa;
    Cloned<Mapping> mapping;
  };

  // The steps that a single pool does not have.

  /// May both pools serve? Neither gives up a page before this is known.
  virtual bool make_joint_room(std::int64_t full_pages, std::int64_t swa_pages);
  /// mapping[full[i]] = swa[i].
  virtual void pair(std::span<const Loc> full, std::span<const Loc> swa);
  /// New full locs without a peer read 0, whatever a former owner left behind.
  virtual void clear_outside_tail(std::span<const Loc> full);
  void free_pages(Side side, std::span<const Page> full_pages) override;
  /// The SWA half of a free: peers are looked up and detached now, and given back now or at the end of the group.
  virtual void free_swa_pages(Side side, std::span<const Page> full_pages);
  /// The SWA pages that the full pages' slots are paired with: ascending, each once, never page 0.
  virtual void collect_peers(std::span<const Page> full_pages, std::vector<Page>& out);
  /// Whole full pages read 0 afterwards.
  virtual void detach_peers(std::span<const Page> full_pages);
  virtual void restore_snapshot(const Snapshot& snapshot);
  virtual void clear_mapping();
  /// Where the SWA KV of positions from `first_pos` on is stored. Valid until the next call on the allocator.
  [[nodiscard]] std::span<const std::int64_t> swa_rows(std::span<const Loc> full_locs, std::int64_t slot,
                                                       Pos first_pos);

  [[nodiscard]] Mapping& mapping() { return *mapping_; }
  [[nodiscard]] const Mapping& mapping() const { return *mapping_; }
  [[nodiscard]] KvStore& swa_kv() { return *swa_kv_; }

 private:
  [[nodiscard]] Cloned<KvStore> new_swa_kv() const;
  [[nodiscard]] std::span<const Loc> peers_of(std::span<const Loc> full_locs);

  Cloned<Mapping> mapping_;
  Cloned<KvStore> swa_kv_;  ///< by SWA loc, or by ring row
  std::map<std::uint32_t, Snapshot> snapshots_;
  Locs swa_locs_;                   ///< scratch
  Locs peer_locs_;                  ///< scratch
  std::vector<std::int64_t> rows_;  ///< scratch
  std::vector<Page> peers_;         ///< scratch
};

}  // namespace poolproof
