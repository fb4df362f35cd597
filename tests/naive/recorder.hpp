// An allocator that writes down every call it passes on, so that the naive model sees exactly what the machine saw.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/pool_memory.hpp"

namespace poolproof::naive {

enum class CallKind : std::uint8_t {
  alloc,
  alloc_extend,
  alloc_decode,
  alloc_tail,
  free,
  free_segments,
  group_begin,
  group_end,
  set_mapping,
  clear_mapping,
  translate,
  clear,
  resize,
  backup,
  restore,
  take_slot,
  give_slot,
  write_full,
  read_full,
  write_swa,
  read_swa,
  pause,
  resume,
  destroy,
  build,
  flush,
};

using Numbers = std::vector<std::int64_t>;

/// One call: its arguments as lists of numbers, what was stored or answered, and the answer. Plain values, so that an
/// expected call is compared by ==.
struct Call {
  CallKind kind = CallKind::alloc;
  std::vector<Numbers> args;
  Numbers data;  ///< lending and translate: the locs answered; slot: the index; write, read: the stamps
  Answer answer = Answer::served;
};

class Recorder final : public Allocator {
 public:
  explicit Recorder(std::unique_ptr<Allocator> inner);

  /// The calls since the last forget(), in order. Counters and lists are not calls.
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  [[nodiscard]] const Gauges& last_gauges() const { return gauges_; }
  /// What was shown of the memory since then, in order.
  [[nodiscard]] const std::vector<MemoryReport>& reports() const { return reports_; }
  void forget() {
    calls_.clear();
    reports_.clear();
  }

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  /// clone(), as what it is.
  [[nodiscard]] std::unique_ptr<Recorder> copy() const;

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
  Answer census(Census& out) override { return inner_->census(out); }
  [[nodiscard]] std::string failure() const override { return inner_->failure(); }
  [[nodiscard]] std::optional<Breakdown> breakdown() const override { return inner_->breakdown(); }
  [[nodiscard]] PoolMemory* memory() override { return memory_.get(); }

 private:
  class Memory;
  Answer record(CallKind kind, std::vector<Numbers> args, Numbers data, Answer answer);

  std::unique_ptr<Allocator> inner_;
  std::unique_ptr<PoolMemory> memory_;
  std::vector<Call> calls_;
  std::vector<MemoryReport> reports_;
  Gauges gauges_;
};

}  // namespace poolproof::naive
