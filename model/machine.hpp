// The reference machine: the truth about what an allocator may answer.
//
// It does not predict which page comes; it adopts an implementation's choice after checking it, and checks exactly what
// is determined: counts, refusals, page rules, the mapping, accounting, data. An op goes through it in two halves:
// `admit` looks at the caller's side before the call (protocol rules C1..C10) and resolves rows to the arguments of the
// call; `observe` looks at the allocator's side after it. Work is proportional to what the op touches and, once the
// buffers are warm, allocates nothing; `census` scans the pools. After a verdict the machine is spent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/geometry.hpp"
#include "model/ledger.hpp"
#include "model/memory_report.hpp"
#include "model/observation.hpp"
#include "model/ops.hpp"
#include "model/verdict.hpp"

namespace poolproof {

class GenerationNames;
class StateDigest;

/// The arguments of the allocator call behind an op, resolved from rows; buffers are reused from op to op.
struct Plan {
  OpIndex op = 0;
  bool fits = true;              ///< lending ops and `slot`: it must be served; else it must be refused
  std::vector<Pos> prefix_lens;  ///< extend, tail
  std::vector<Pos> seq_lens;     ///< extend, decode, tail
  std::vector<Loc> last_locs;    ///< extend, decode, tail
  Tokens tokens = 0;             ///< new tokens of a lending op
  Locs locs;                     ///< free*: the locs to pass; remap: targets; unmap, write, read: the row's locs
  Locs peers;                    ///< remap: the SWA locs to set
  Locs donors;                   ///< remap: the locs to clear; empty in ring mode
  std::vector<std::uint32_t> segment_ends;  ///< free_segment: end of each segment in `locs`
  std::vector<Pos> segment_starts;          ///< free_segment: start_pos of each segment
  Locs probes;                     ///< full locs to translate after the call (lending ops: the new locs instead)
  std::int64_t slot = -1;          ///< unslot, write, read: the row's request slot
  Pos first_pos = 0;               ///< write, read: position of locs[0]
  std::size_t swa_first = 0;       ///< read: the SWA layers read locs[swa_first..]; write: they store all
  std::vector<Stamp> full_stamps;  ///< write: to store; read: expected
  std::vector<Stamp> swa_stamps;   ///< write: to store; read: expected, from swa_first on
};

/// What came back from the call.
struct Observation {
  Answer answer = Answer::served;
  std::span<const Loc> locs;           ///< lending ops: the new full locs
  std::span<const Loc> translations;   ///< hybrid: of the new locs (lending ops), else of Plan::probes
  std::int64_t slot = -1;              ///< slot: the index taken
  std::span<const Stamp> full_stamps;  ///< read
  std::span<const Stamp> swa_stamps;   ///< read
  Gauges gauges;
  const MemoryReport* before = nullptr;  ///< pause, resume, destroy, build: the memory before the call,
  const MemoryReport* after = nullptr;   ///< and after it; null where it is not shown, and then not checked
};

class Machine {
 public:
  /// Page histories go back over so many events of all pages, a power of two. A machine that is copied often and never
  /// asked for one keeps few: they are most of what a copy costs.
  explicit Machine(const Geometry& geometry, std::size_t life_events = Ledger::default_capacity);
  ~Machine();
  Machine(const Machine&);
  /// Between ops. Allocates nothing once the buffers are warm.
  Machine& operator=(const Machine&);
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// As just built, keeping the buffers: the next trace allocates nothing. Same geometry or another.
  void reset(const Geometry& geometry);

  /// The implementation's counters right after it was built.
  std::optional<Verdict> begin(const Gauges& fresh);

  /// The memory of an implementation right after it was built: every planned buffer, of its planned size.
  std::optional<Verdict> begin_memory(const MemoryReport& fresh);

  /// The caller's half. On a fault nothing has changed: the op may be left out and the run goes on.
  /// Op indices count admitted and refused-by-protocol ops alike through `next_op()`.
  std::optional<Verdict> admit(const Op& op, Plan& plan);

  /// The allocator's half of the op admitted last.
  std::optional<Verdict> observe(const Op& op, const Plan& plan, const Observation& seen);

  /// Whole-pool scan, between ops.
  std::optional<Verdict> census(const Census& seen);

  /// The count went wrong at `symptom`: looks through the lists for the link that broke first and answers that, or
  /// the symptom with its pages' histories. For verdicts of AVAIL_*, GROUP_* and CONSERVATION.
  Verdict explain(Verdict symptom, const Census& seen);

  /// Number that the next admitted op will have; admit does not advance it on a fault.
  [[nodiscard]] OpIndex next_op() const;

  // What a generator, a shrinker or a reporter may ask; all of it is determined, none depends on page choices.

  [[nodiscard]] const Geometry& geometry() const;
  /// The sizes now: `resize` changes them.
  [[nodiscard]] Tokens full_size() const;
  [[nodiscard]] Tokens swa_size() const;
  [[nodiscard]] std::int64_t full_free_pages() const;
  [[nodiscard]] std::int64_t swa_free_pages() const;
  [[nodiscard]] std::int64_t full_deferred_pages() const;
  [[nodiscard]] std::int64_t swa_deferred_pages() const;
  [[nodiscard]] std::int64_t slots_free() const;
  [[nodiscard]] bool group_open() const;
  [[nodiscard]] bool has_backup(std::uint32_t name) const;
  /// Was the last observed lending op, or slot, refused?
  [[nodiscard]] bool last_refused() const;

  /// Rows that ever held anything are numbered below this.
  [[nodiscard]] Row row_limit() const;
  /// Length in tokens: positions [0, length) are held, holes aside.
  [[nodiscard]] Pos row_length(Row row) const;
  [[nodiscard]] bool row_has_slot(Row row) const;
  /// Is the position live (lent and held by this row)?
  [[nodiscard]] bool row_live(Row row, Pos position) const;
  /// Does the position's full loc have a live peer? (paired hybrids)
  [[nodiscard]] bool row_peer_live(Row row, Pos position) const;
  /// How many rows hold the position's page.
  [[nodiscard]] std::int64_t row_holders(Row row, Pos position) const;
  /// Positions below this were given up by window eviction (C8's frontier).
  [[nodiscard]] Pos row_frontier(Row row) const;
  /// Are the pools there: not between destroy and build?
  [[nodiscard]] bool built() const;
  /// Is all memory under this tag paused, is all of it resident? With `all` neither may be.
  [[nodiscard]] bool paused(MemoryTag tag) const;
  [[nodiscard]] bool resident(MemoryTag tag) const;
  /// The state between ops (model/state_digest.hpp), for pools without memory: two machines of one digest say the same
  /// about the same ops and answers from here on, in other words perhaps; which row is which does not count. `out` has
  /// the names that name_generations gave.
  void name_generations(GenerationNames& names) const;
  void digest(StateDigest& out) const;
  /// Would `op` be admitted now? Costs an admit; changes nothing that can be observed.
  [[nodiscard]] bool admits(const Op& op);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poolproof
