// An allocator that runs in a child process: each call is asked over the wire, or was asked ahead with many others.
//
// Where the implementation offers no request slots or no stamps, this stands in: stamps are kept by the locs, the
// mapping and the slots that the implementation answers, so that wrong addresses show as wrong data all the same.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/bridge/rehearsal.hpp"
#include "impl/bridge/session.hpp"
#include "impl/host/kv_store.hpp"
#include "impl/host/request_slots.hpp"
#include "impl/script.hpp"

namespace poolproof {

class ExternalAllocator final : public Allocator, private Foresight {
 public:
  /// The session has just been reset to this geometry, and outlives this through the pointer.
  ExternalAllocator(std::shared_ptr<ExternalSession> session, const Geometry& geometry, const Offers& offers);

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
  [[nodiscard]] std::string failure() const override { return failure_; }
  [[nodiscard]] std::optional<Breakdown> breakdown() const override { return breakdown_; }
  [[nodiscard]] Foresight* foresight() override { return this; }

 private:
  /// A call that was asked ahead, and its reply.
  struct Foreseen {
    Call call;
    Reply reply;
  };

  // Foresight.
  Allocator& rehearse(std::unique_ptr<Allocator> rehearsal) override;
  [[nodiscard]] std::size_t noted() const override { return rehearsal_->noted(); }
  void send() override;

  [[nodiscard]] bool offered(Offer offer) const { return has(offers_, offer); }
  Answer ask(Call call);
  Answer answer_foreseen(const Call& call);
  Answer ask_offered(Offer offer, Call call);
  Answer settle(Reply reply);
  Answer fail(std::string why, std::optional<Breakdown> breakdown);
  Answer garbled(const std::string& why);
  Answer lend(Offer offer, Call call, Locs& out);
  Answer peers_of(std::span<const Loc> full_locs);
  [[nodiscard]] std::int64_t swa_row(std::size_t index, std::int64_t slot, Pos first_pos) const;
  Answer find_swa_rows(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos);
  void size_stores();
  bool fill_pool(const ToldPool& told, PoolCensus& out);

  std::shared_ptr<ExternalSession> session_;
  Geometry geo_;  ///< with the sizes as they are now
  Offers offers_;
  Reply reply_;  ///< of the last call
  std::string failure_;
  std::optional<Breakdown> breakdown_;
  std::unique_ptr<Rehearsal> rehearsal_;
  std::deque<Foreseen> foreseen_;
  /// It answered otherwise than the rehearsal did, whether it serves: what was asked ahead of this op's calls is
  /// another op's, and the verdict is near.
  bool diverged_ = false;
  bool tells_tail_ = false;  ///< its gauges name the mapping's last entry
  bool group_open_ = false;
  RequestSlots slots_;
  std::unique_ptr<KvStore> full_kv_;  ///< null where it keeps stamps itself
  std::unique_ptr<KvStore> swa_kv_;   ///< hybrid layouts alone
  std::int64_t full_rows_ = 0;
  std::int64_t swa_rows_ = 0;
  Locs peers_;
  std::vector<std::int64_t> rows_;  ///< scratch
  Locs mapping_;
};

}  // namespace poolproof
