// The second opinion: docs/semantics.md once more, as sets, maps and whole-pool scans, with nothing clever in it.
//
// It exists to check the reference machine. It shares the language (geometry, ops, rules) with it and no more: state is
// per token, every question is answered by looking at everything, and what costs time is left slow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/geometry.hpp"
#include "model/invariants.hpp"
#include "model/observation.hpp"
#include "model/ops.hpp"
#include "tests/naive/recorder.hpp"

namespace poolproof::naive {

struct RowState {
  std::vector<std::optional<Loc>> held;  ///< full locs by position; nothing = a hole
  std::optional<std::int64_t> slot;
  Pos evicted_to = 0;  ///< window eviction got this far
};

/// Pages that are neither free (staged ones included) nor deferred are lent.
struct PoolState {
  std::set<std::int64_t> free;
  std::set<std::int64_t> deferred;
  std::map<std::int64_t, std::uint64_t> lending;  ///< which lending of the page this is
};

/// KV stored in a loc, and in which lending of its page.
struct Kv {
  Stamp stamp = 0;
  std::uint64_t lending = 0;
  bool lost = false;  ///< in a pause
};

/// What one row of a ring holds.
struct RingEntry {
  Pos position = 0;
  Stamp stamp = 0;
  bool lost = false;
};

/// What a backup remembers.
struct Snapshot {
  PoolState full;
  PoolState swa;
  std::map<Loc, Loc> mapping;
  std::map<Row, RowState> rows;
  std::set<std::int64_t> evicted;
};

/// Lending ops, `slot`, `pause` and `resume`.
bool may_not_fit(const Op& op);

/// A segment call's slices, as pieces.
std::vector<Piece> pieces_of(const op::FreeSegment& op);

/// One request of a lending op, and the positions that get new peers.
struct Lending {
  Piece piece;
  Range peered;
};

/// What is wrong after an op: with the allocator's answers, or with the calls that the harness made.
struct Complaint {
  std::string allocator;  ///< empty = nothing
  std::string harness;    ///< empty = nothing
};

class Model {
 public:
  explicit Model(const Geometry& geometry);

  /// The protocol rules that the op breaks as things stand; empty = the op is the caller's right. `op_fault` must have
  /// nothing against the op.
  [[nodiscard]] std::set<Rule> faults(const Op& op) const;
  /// Lending ops and `slot`: is there room?
  [[nodiscard]] bool fits(const Op& op) const;
  /// Checks the calls that carried out the op and what was answered, and takes the op over. After an allocator
  /// complaint the model is spent.
  Complaint apply(const Op& op, const std::vector<Call>& calls, const std::vector<MemoryReport>& reports,
                  const Gauges& gauges);
  /// Empty, or what is wrong with the memory of a fresh implementation.
  [[nodiscard]] std::string check_built(const MemoryReport& report) const;
  /// Compares whole lists and the whole mapping; empty = as they must be.
  [[nodiscard]] std::string scan(const Census& census) const;

  [[nodiscard]] Gauges gauges() const;
  /// Empty, or the first counter that is not what gauges() says; counters that the layout does not have are left out.
  [[nodiscard]] std::string compare(const Gauges& seen) const;

  [[nodiscard]] const PoolState& full_pool() const { return full_; }
  [[nodiscard]] const PoolState& swa_pool() const { return swa_; }
  [[nodiscard]] const std::map<Row, RowState>& rows() const { return rows_; }
  [[nodiscard]] bool group_open() const { return group_open_; }
  [[nodiscard]] bool has_backup(std::uint32_t name) const { return snapshots_.contains(name); }
  [[nodiscard]] std::int64_t slots_free() const;
  [[nodiscard]] Pos length(Row row) const;
  [[nodiscard]] std::optional<Loc> loc_of(Row row, Pos position) const;
  /// mapping[full loc]; 0 = no peer.
  [[nodiscard]] Loc peer(Loc full) const;
  [[nodiscard]] std::int64_t holders(std::int64_t page) const;

 private:
  using Named = std::set<std::pair<Row, Pos>>;

  [[nodiscard]] std::set<Rule> lending_faults(Row row, Pos begin) const;
  [[nodiscard]] std::set<Rule> batch_faults(const std::vector<Piece>& pieces) const;
  [[nodiscard]] std::set<Rule> free_faults(Side side, const std::vector<Piece>& pieces) const;
  [[nodiscard]] std::set<Rule> eviction_faults(const std::vector<Piece>& pieces) const;
  [[nodiscard]] std::set<Rule> page_faults(const Named& named) const;
  [[nodiscard]] std::set<Rule> partial_faults(Row row, const Range& range) const;
  [[nodiscard]] std::set<Rule> segment_faults(const op::FreeSegment& op) const;
  [[nodiscard]] std::set<Rule> copy_faults(const op::Copy& op) const;
  [[nodiscard]] std::set<Rule> drop_faults(const op::Drop& op) const;
  [[nodiscard]] std::set<Rule> trim_faults(const op::Trim& op) const;
  [[nodiscard]] std::set<Rule> remap_faults(const op::Remap& op) const;
  [[nodiscard]] std::set<Rule> unmap_faults(const op::Unmap& op) const;
  [[nodiscard]] std::set<Rule> write_faults(const op::Write& op) const;
  [[nodiscard]] std::set<Rule> read_faults(const op::Read& op) const;
  [[nodiscard]] std::set<Rule> window_faults(Row row, Pos position) const;
  [[nodiscard]] std::set<Rule> ring_faults(Row row, Pos position) const;
  [[nodiscard]] bool kv_paused() const { return paused_.contains("kv_cache"); }

  [[nodiscard]] std::vector<Piece> pieces_of(const op::Decode& op) const;
  [[nodiscard]] std::set<std::int64_t> pages_of(const std::vector<Piece>& pieces) const;
  [[nodiscard]] bool any_peer(std::int64_t page) const;
  [[nodiscard]] std::set<std::int64_t> peer_pages_of(const std::set<std::int64_t>& pages) const;
  [[nodiscard]] Locs locs_of(const Piece& piece) const;
  [[nodiscard]] Loc last_loc(Row row) const;
  [[nodiscard]] std::optional<std::int64_t> slot_of(Row row) const;
  [[nodiscard]] bool live(Row row, Pos position) const { return loc_of(row, position).has_value(); }
  [[nodiscard]] std::int64_t ring_row(std::int64_t slot, Pos position) const;
  [[nodiscard]] std::vector<Lending> lendings_of(const Op& op) const;

  [[nodiscard]] std::vector<Call> expected_calls(const Op& op) const;
  [[nodiscard]] Answer expected_answer(const Op& op) const;
  [[nodiscard]] std::string check_calls(const Op& op, const std::vector<Call>& calls) const;
  [[nodiscard]] std::string check_translations(const std::vector<Call>& calls) const;
  [[nodiscard]] std::string check_stamps(const op::Read& op, const Call& call) const;
  [[nodiscard]] std::string scan_mapping(const Census& census) const;
  [[nodiscard]] std::string scan_slots(const Census& census) const;

  // naive_memory.cpp
  [[nodiscard]] bool in_turn(MemoryTag tag, bool pause) const;
  [[nodiscard]] std::string check_memory(const Op& op, const std::vector<MemoryReport>& reports) const;
  [[nodiscard]] std::string check_pause(const std::set<std::string>& tags, const MemoryReport& before,
                                        const MemoryReport& after) const;
  [[nodiscard]] std::string check_resume(const std::set<std::string>& tags, const MemoryReport& before,
                                         const MemoryReport& after) const;
  void pause(MemoryTag tag, const std::vector<MemoryReport>& reports);
  void resume(MemoryTag tag);

  std::string take_over(const Op& op, const std::vector<Call>& calls, const std::vector<MemoryReport>& reports);
  std::string lend(const Op& op, const std::vector<Call>& calls);
  std::string lend_full(Row row, Pos position, Loc loc);
  std::string lend_peer(Row row, Pos position, Loc loc, bool peered, Loc seen);
  void release(Side side, const std::vector<Piece>& pieces);
  void give_back(PoolState& pool, const std::set<std::int64_t>& pages);
  void let_go(Row row, const std::set<std::int64_t>& pages);
  void shorten(RowState& row);
  std::string take_slot(Row row, std::int64_t slot);
  void end_group();
  void backup(std::uint32_t name);
  void restore(const Snapshot& snapshot);
  void forget_ring(Row row, Pos position);
  void start_afresh(Tokens full, Tokens swa);
  void copy(const op::Copy& op);
  void remap(const op::Remap& op);
  void write(const op::Write& op, const Call& call);
  [[nodiscard]] Stamp swa_stamp(Row row, Pos position) const;
  [[nodiscard]] bool written(const std::map<Loc, Kv>& kv, const PoolState& pool, Loc loc) const;

  Geometry g_;
  PoolState full_;
  PoolState swa_;
  std::map<Loc, Loc> mapping_;      ///< full loc to SWA loc, entries that are not 0
  std::set<std::int64_t> evicted_;  ///< full pages that stayed lent when their peers were given back or away
  std::map<Row, RowState> rows_;
  bool group_open_ = false;
  std::map<std::uint32_t, Snapshot> snapshots_;
  std::map<Loc, Kv> full_kv_;  ///< written since the loc was lent; a restore leaves it as it is
  std::map<Loc, Kv> swa_kv_;   ///< the same of the SWA pool
  std::map<std::int64_t, RingEntry> ring_kv_;
  std::uint64_t lendings_ = 0;
  bool built_ = true;
  std::set<std::string> paused_;                   ///< tags
  std::map<std::string, std::uint64_t> contents_;  ///< by buffer: its digest when it was paused
};

}  // namespace poolproof::naive
