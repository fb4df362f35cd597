// The rehearsal: calls are made on a stand-in that answers as a right allocator would, and noted as the script that
// the implementation will be asked. Locs of the stand-in become references to what the implementation will answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/bridge/capabilities.hpp"
#include "impl/script.hpp"

namespace poolproof {

class Rehearsal final : public Allocator {
 public:
  Rehearsal(const Geometry& geometry, const Offers& offers, std::unique_ptr<Allocator> stand_in);

  /// The script so far; the next one begins.
  std::vector<Call> take();
  /// What the implementation answered to the script taken last: later scripts name its locs literally.
  void learn(std::span<const Reply> replies);
  [[nodiscard]] std::size_t noted() const { return size_; }

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override { return nullptr; }
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

 private:
  /// Where the stand-in's number came from: number `index` of what `call` of a script answered.
  struct Origin {
    std::uint32_t script = 0;
    std::int32_t call = 0;
    Loc index = 0;
    Loc theirs = 0;             ///< the implementation's number, once the script was answered
    std::uint64_t lending = 0;  ///< full locs: of their page; a slot that this lending did not hand out is stale
  };
  using Origins = std::vector<Origin>;  ///< by the stand-in's number
  enum class Kind : std::uint8_t { full, swa, slot };
  /// What a call of a script handed out.
  struct Handout {
    std::uint32_t script = 0;
    std::int32_t call = 0;
    Kind kind = Kind::full;
    Locs ours;
  };
  /// Who is who. A snapshot of the allocator needs one of this: what it brings back has its old names.
  struct Names {
    Origins full;
    Origins swa;
    Origins slots;
  };

  [[nodiscard]] bool offered(Offer offer) const { return has(offers_, offer); }
  static Origins& origins(Names& names, Kind kind);
  static void learn(Names& names, const Handout& handout, const Reply& reply);
  void append_full(LocRuns& runs, Loc ours);
  Call& note(Method method);
  void hand_out(Kind kind, std::span<const Loc> ours);
  LocRuns full_runs(std::span<const Loc> ours);
  LocRuns peers_of(std::span<const Loc> swa);
  SlotRef slot_of(std::int64_t slot);
  Answer lent(Answer answer, const Locs& out);
  void note_translation(std::span<const Loc> full);

  Geometry geo_;
  Offers offers_;
  std::unique_ptr<Allocator> stand_in_;
  std::vector<Call> script_;
  std::vector<Handout> handouts_;
  std::vector<Handout> taken_;  ///< of the script taken last
  std::size_t size_ = 0;
  std::uint32_t script_number_ = 1;
  std::uint64_t lendings_ = 0;
  Names names_;
  std::map<std::uint32_t, Names> snapshots_;  ///< by key; slots are not part of a snapshot
  bool group_open_ = false;
};

}  // namespace poolproof
