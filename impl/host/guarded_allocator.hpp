// Passes calls on to an allocator whose storage can fail, and turns a StorageError into an answer: failed, and from
// then on every call is failed. What was thrown is told by failure() and breakdown().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "impl/allocator.hpp"
#include "impl/host/storage.hpp"
#include "impl/pool_memory.hpp"

namespace poolproof {

class GuardedAllocator final : public Allocator {
 public:
  explicit GuardedAllocator(std::unique_ptr<Allocator> inner);

  /// Null when the inner one's is. When copying breaks down, the copy has failed and this goes on.
  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  bool assign(const Allocator& other) override;
  bool digest(StateDigest& out) const override;

  Answer alloc(Tokens tokens, Locs& out) override;
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override;
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override;
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override;
  Answer free(Side side, std::span<const Loc> locs) override;
  Answer free_segments(Side side, std::span<const Segment> segments) override;
  Answer free_group_begin() override;
  Answer free_group_end() override;
  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override;
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override;
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override;
  Answer clear() override;
  Answer resize(Tokens full, Tokens swa) override;
  Answer backup_state(std::uint32_t key) override;
  Answer restore_state(std::uint32_t key) override;
  Answer take_slot(std::int64_t& slot) override;
  Answer give_slot(std::int64_t slot) override;
  Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) override;
  Answer read_full(std::span<const Loc> full_locs, std::span<Stamp> out) override;
  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override;
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override;
  Answer gauges(Gauges& out) override;
  Answer census(Census& out) override;
  [[nodiscard]] std::string failure() const override;
  [[nodiscard]] std::optional<Breakdown> breakdown() const override;
  [[nodiscard]] bool beyond_repair() const override;
  /// The inner one's, likewise guarded.
  [[nodiscard]] PoolMemory* memory() override;

 private:
  class Memory;

  /// One that has failed.
  explicit GuardedAllocator(StorageError error);

  template <typename Call>
  Answer guarded(const Call& call);

  std::unique_ptr<Allocator> inner_;   ///< null when it failed before it was there
  std::optional<StorageError> error_;  ///< the first one; nothing is passed on any more
  std::unique_ptr<PoolMemory> memory_;
};

}  // namespace poolproof
