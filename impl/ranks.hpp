// Replicas: the ranks of a tensor-parallel engine each run an allocator of their own, are fed the same calls, and must
// answer the same locs, or one rank reads the KV of another request. Several allocators stand as one, and what one of
// them answers otherwise than the first is an invariant broken (RANKS_AGREE).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/registry.hpp"

namespace poolproof {

/// Replicas at most.
inline constexpr std::uint32_t max_ranks = 64;

/// Makes each call on every replica, and answers what rank 0 answers. As soon as another one differs in an answer, new
/// locs, a slot, a translation, a stamp, a counter or, after an op, anything that the census shows, this answers failed
/// and disagreement() says in what.
class RankedAllocator final : public Allocator {
 public:
  /// Pools of more tokens than this are looked at as a whole when a census is asked for, not after every op.
  static constexpr Tokens large_pool_tokens = Tokens{1} << 22U;

  /// `ranks` are fresh, of this geometry, and at least one.
  RankedAllocator(std::vector<std::unique_ptr<Allocator>> ranks, const Geometry& geometry);

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
  /// The whole state is compared here too, since an op ends with its counters being read.
  Answer gauges(Gauges& out) override;
  Answer census(Census& out) override;
  [[nodiscard]] std::string failure() const override { return failure_; }
  [[nodiscard]] std::optional<Breakdown> breakdown() const override { return breakdown_; }
  [[nodiscard]] bool beyond_repair() const override;
  [[nodiscard]] std::optional<Disagreement> disagreement() const override { return disagreement_; }

 private:
  /// What rank 0 shows and what another one shows.
  struct Difference {
    std::string expected;
    std::string seen;
  };

  template <typename Make, typename Compare>
  Answer each(std::string_view call, const Make& make, const Compare& compare);
  template <typename Make>
  Answer each(std::string_view call, const Make& make);
  template <typename Make>
  Answer lend(std::string_view call, Locs& out, const Make& make);
  template <typename Make>
  Answer read(std::string_view call, std::span<Stamp> out, const Make& make);
  template <typename Item>
  static std::optional<Difference> between(std::string_view name, std::span<const Item> mine,
                                           std::span<const Item> theirs);
  Answer compare_states();
  Answer compare_census(std::uint32_t rank, const Census& first);
  Answer broke_down(std::uint32_t rank);
  Answer answers_otherwise(std::uint32_t rank, std::string_view call, Difference difference);
  Answer state_differs(std::uint32_t rank, std::string_view part, Difference difference);
  Answer disagree(Disagreement disagreement);

  std::vector<std::unique_ptr<Allocator>> ranks_;
  Geometry geometry_;                  ///< with the sizes as they are now
  std::string last_ = "construction";  ///< the last call that may change something
  Locs locs_;                          ///< of the rank that is compared, as the next ones
  std::vector<Stamp> stamps_;
  std::string failure_;
  std::optional<Breakdown> breakdown_;
  std::optional<Disagreement> disagreement_;
};

/// Builds the replica of one rank; of rank 0 it is what `impl.make` builds.
Result<std::unique_ptr<Allocator>, std::string> build_rank(const ImplInfo& impl, const Geometry& geometry,
                                                           std::uint32_t rank);

/// The entry that builds `ranks` replicas, or as many as it takes for the fault of `impl` to show, if that is more. Its
/// field `ranks` says how many, its name stays. One that builds replicas already is not given again.
ImplInfo with_ranks(const ImplInfo& impl, std::uint32_t ranks);

}  // namespace poolproof
