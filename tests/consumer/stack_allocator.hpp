// A paged pool of this project's own: a stack of free pages, the page returned last is lent first.
#pragma once

#include <map>
#include <memory>
#include <poolproof/impl/allocator.hpp>
#include <span>
#include <string>
#include <vector>

namespace consumer {

/// What is wrong with the allocator on purpose.
enum class Plant {
  none,
  keeps_pages_of_refused_batch,  ///< a batch that does not fit keeps the pages that its first requests were given
};

/// One pool of pages (`layout=paged`, no need_sort). The SWA side does not exist: those calls answer `failed`.
class StackAllocator final : public poolproof::Allocator {
 public:
  StackAllocator(const poolproof::Geometry& geometry, Plant plant);

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;

  poolproof::Answer alloc(poolproof::Tokens tokens, poolproof::Locs& out) override;
  poolproof::Answer alloc_extend(std::span<const poolproof::Pos> prefix_lens, std::span<const poolproof::Pos> seq_lens,
                                 std::span<const poolproof::Loc> last_locs, poolproof::Locs& out) override;
  poolproof::Answer alloc_decode(std::span<const poolproof::Pos> seq_lens, std::span<const poolproof::Loc> last_locs,
                                 poolproof::Locs& out) override;
  poolproof::Answer alloc_extend_swa_tail(poolproof::Pos prefix_len, poolproof::Pos seq_len, poolproof::Loc last_loc,
                                          poolproof::Tokens tail_len, poolproof::Pos tail_end,
                                          poolproof::Locs& out) override;

  poolproof::Answer free(poolproof::Side side, std::span<const poolproof::Loc> locs) override;
  poolproof::Answer free_segments(poolproof::Side side, std::span<const poolproof::Segment> segments) override;
  poolproof::Answer free_group_begin() override;
  poolproof::Answer free_group_end() override;

  poolproof::Answer set_full_to_swa_mapping(std::span<const poolproof::Loc> full,
                                            std::span<const poolproof::Loc> swa) override;
  poolproof::Answer clear_full_to_swa_mapping(std::span<const poolproof::Loc> full) override;
  poolproof::Answer translate_loc_from_full_to_swa(std::span<const poolproof::Loc> full,
                                                   std::span<poolproof::Loc> out) override;

  poolproof::Answer clear() override;
  poolproof::Answer resize(poolproof::Tokens full, poolproof::Tokens swa) override;
  poolproof::Answer backup_state(std::uint32_t key) override;
  poolproof::Answer restore_state(std::uint32_t key) override;

  poolproof::Answer take_slot(std::int64_t& slot) override;
  poolproof::Answer give_slot(std::int64_t slot) override;

  poolproof::Answer write_full(std::span<const poolproof::Loc> full_locs,
                               std::span<const poolproof::Stamp> stamps) override;
  poolproof::Answer read_full(std::span<const poolproof::Loc> full_locs, std::span<poolproof::Stamp> out) override;
  poolproof::Answer write_swa(std::span<const poolproof::Loc> full_locs, std::int64_t slot, poolproof::Pos first_pos,
                              std::span<const poolproof::Stamp> stamps) override;
  poolproof::Answer read_swa(std::span<const poolproof::Loc> full_locs, std::int64_t slot, poolproof::Pos first_pos,
                             std::span<poolproof::Stamp> out) override;

  poolproof::Answer gauges(poolproof::Gauges& out) override;
  poolproof::Answer census(poolproof::Census& out) override;
  [[nodiscard]] std::string failure() const override { return failure_; }

 private:
  /// Appends the locs of positions prefix_len..seq_len-1; false when the pages run out on the way.
  bool lend(poolproof::Pos prefix_len, poolproof::Pos seq_len, poolproof::Loc last_loc, poolproof::Locs& out);
  void give_back(std::vector<std::int64_t> pages);
  poolproof::Answer unoffered(const char* call);

  poolproof::Geometry geometry_;
  Plant plant_;
  std::vector<std::int64_t> stack_;     ///< free pages, the next to be lent last
  std::vector<std::int64_t> deferred_;  ///< pages given back inside the open group
  bool group_open_ = false;
  std::vector<std::int64_t> free_slots_;
  std::map<std::uint32_t, std::vector<std::int64_t>> backups_;
  std::vector<poolproof::Stamp> kv_;
  std::string failure_;
};

}  // namespace consumer
