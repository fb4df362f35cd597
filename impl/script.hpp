// Scripts: many calls on an allocator at once, later ones on what earlier ones will answer, and what was answered.
// They are what goes over the wire to an external implementation (docs/external.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impl/allocator.hpp"
#include "model/units.hpp"

namespace poolproof {

/// The calls, by the names of the wire.
enum class Method : std::uint8_t {
  alloc,
  alloc_extend,
  alloc_decode,
  alloc_extend_swa_tail,
  free,
  free_swa,
  free_full,
  free_segments,
  free_swa_segments,
  free_full_segments,
  free_group_begin,
  free_group_end,
  set_full_to_swa_mapping,
  clear_full_to_swa_mapping,
  translate,
  clear,
  resize,
  backup_state,
  restore_state,
  take_slot,
  give_slot,
  write_full,
  read_full,
  write_swa,
  read_swa,
  gauges,
  census,
};
inline constexpr std::size_t method_count = 27;

/// The set-shaped and the row-segment free of a side.
constexpr Method free_method(Side side) {
  return static_cast<Method>(static_cast<unsigned>(Method::free) + static_cast<unsigned>(side));
}
constexpr Method free_segments_method(Side side) {
  return static_cast<Method>(static_cast<unsigned>(Method::free_segments) + static_cast<unsigned>(side));
}
static_assert(free_method(Side::full) == Method::free_full);
static_assert(free_segments_method(Side::swa) == Method::free_swa_segments);

/// Consecutive locs: first .. first+count-1 (`of` is literal), or number first .. first+count-1 of what call `of` of
/// the script answers, or with a `shift`, a+shift .. a+shift+count-1 where a is number `first` of that answer.
struct LocRun {
  Loc first = 0;
  Tokens count = 0;
  std::int32_t of = literal;
  Loc shift = none;
  static constexpr std::int32_t literal = -1;
  static constexpr Loc none = -1;
  bool operator==(const LocRun&) const = default;
};
using LocRuns = std::vector<LocRun>;

/// Appends one loc, literal or number `loc` of call `of`; a consecutive one lengthens the last run.
void append_loc(LocRuns& runs, Loc loc, std::int32_t of = LocRun::literal);
/// Appends the loc `shift` behind number `index` of call `of`; likewise.
void append_shifted(LocRuns& runs, std::int32_t of, Loc index, Loc shift);
/// All of them, literally.
LocRuns literal_runs(std::span<const Loc> locs);

struct SegmentRuns {
  LocRuns locs;
  Pos start_pos = 0;
  bool operator==(const SegmentRuns&) const = default;
};

/// A request slot: a number, or what call `of` of the script takes.
struct SlotRef {
  std::int64_t slot = -1;
  std::int32_t of = LocRun::literal;
  bool operator==(const SlotRef&) const = default;
};

/// One call; which fields count depends on the method.
struct Call {
  Method method = Method::gauges;
  std::vector<Pos> prefix_lens;       ///< alloc_extend, tail
  std::vector<Pos> seq_lens;          ///< alloc_extend, alloc_decode, tail
  LocRuns locs;                       ///< last_locs of lending calls; the locs of all others
  LocRuns swa;                        ///< set_full_to_swa_mapping
  std::vector<SegmentRuns> segments;  ///< free*_segments
  std::vector<Stamp> stamps;          ///< write_*
  SlotRef slot;                       ///< give_slot, write_swa, read_swa
  bool again = false;                 ///< free_group_begin, free_group_end: a probe, wrong on purpose
  std::int64_t first = 0;             ///< alloc: tokens; tail: tail_len; resize: full; *_state: key; *_swa: first_pos
  std::int64_t second = 0;            ///< tail: tail_end; resize: swa
  /// What the rehearsal answered; lending calls and take_slot. Not sent.
  Answer rehearsed = Answer::served;
};

/// An error of the implementation's own.
struct RaisedError {
  std::string type;
  std::string text;
  std::string where;
};

/// Gauges and lists as an implementation told them: what it left out is nothing.
struct ToldGauges {
  std::optional<Tokens> available, size, full_available, full_size, swa_available, swa_size;
  std::optional<Tokens> swa_pool_available, swa_pool_size;
  std::optional<std::int64_t> slots_free, slots;
  std::optional<Loc> mapping_tail;
};
struct ToldPool {
  std::vector<std::int64_t> free;
  std::vector<std::int64_t> staged;
  std::optional<std::vector<std::int64_t>> deferred;
};
struct MappedRun {
  Loc full = 0;
  Loc swa = 0;
  Tokens count = 0;
};
struct ToldCensus {
  ToldPool full;
  ToldPool swa;
  std::vector<MappedRun> mapping;
  std::vector<std::int64_t> free_slots;
};

/// What came back for one call.
struct Reply {
  Answer answer = Answer::served;
  Locs locs;
  std::vector<Stamp> stamps;
  std::int64_t slot = -1;
  std::optional<ToldGauges> gauges;
  std::optional<ToldCensus> census;
  std::optional<RaisedError> error;  ///< answer is failed
};

/// Calls `take(loc)` for each loc, with references looked up in `replies`; false when one leads to nothing.
template <typename Take>
bool each_loc(const LocRuns& runs, std::span<const Reply> replies, const Take& take) {
  const auto answered = [&](const LocRun& run, Loc index) -> const Loc* {
    const auto call = static_cast<std::size_t>(run.of);
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && call < replies.size() && at < replies[call].locs.size() ? &replies[call].locs[at] : nullptr;
  };
  for (const LocRun& run : runs) {
    for (Tokens i = 0; i < run.count; ++i) {
      if (run.of == LocRun::literal) {
        take(run.first + i);
        continue;
      }
      const bool shifted = run.shift != LocRun::none;
      const Loc* loc = answered(run, shifted ? run.first : run.first + i);
      if (loc == nullptr) {
        return false;
      }
      take(shifted ? *loc + run.shift + i : *loc);
    }
  }
  return true;
}

/// Where scripts go: the calls that will be made next, so that they are answered in one exchange. Not to foresee
/// anything is always right; what is foreseen must then be called in this order, until a verdict ends the run.
class Foresight {
 public:
  Foresight() = default;
  virtual ~Foresight() = default;
  Foresight(const Foresight&) = delete;
  Foresight(Foresight&&) = delete;
  Foresight& operator=(const Foresight&) = delete;
  Foresight& operator=(Foresight&&) = delete;

  /// A call-by-call account of what the implementation will be asked, given what is lent meanwhile. `rehearsal` is an
  /// allocator that answers as a right one would (the host twin); calls made on the account go to it too, and what the
  /// implementation will be asked is noted. The account lives as long as this.
  virtual Allocator& rehearse(std::unique_ptr<Allocator> rehearsal) = 0;
  /// How much was noted since the last send: calls and the numbers in them, a measure of the exchange's size.
  [[nodiscard]] virtual std::size_t noted() const = 0;
  /// Sends what was noted, and keeps the answers for the calls to come.
  virtual void send() = 0;
};

}  // namespace poolproof
