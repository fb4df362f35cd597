// The reference machine's inside: pages, rows, peers, request slots. Included by the machine's own files alone.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/machine.hpp"
#include "model/stamp.hpp"

namespace poolproof {

enum class PageState : std::uint8_t { free, lent, deferred };

/// What the machine knows of one page of one pool.
struct PageRecord {
  std::uint32_t generation = 0;  ///< of the last lending; unique over the run; comes back with a snapshot
  std::uint32_t stored = 0;      ///< generation under which the KV was written that is physically there; stays
  Page base = 0;                 ///< index of the page in the row that it was lent to
  OpIndex lent_op = 0;
  OpIndex freed_op = 0;       ///< returned, or deferred
  OpIndex peer_freed_op = 0;  ///< full page: when its peers were given back or moved away; 0 = not
  std::uint32_t users = 0;    ///< full page: rows that hold it; SWA page: full slots mapped into it
  std::uint32_t touches = 0;  ///< scratch of one op
  std::uint32_t touch = 0;    ///< which op's scratch `touches` is
  PageState state = PageState::free;
  bool mixed = false;  ///< SWA page: may serve more than one full page, or sit at another offset (after a load-back)
};

/// One bit a slot.
class SlotBits {
 public:
  void assign(std::size_t slots) { words_.assign((slots + 63) / 64, 0); }
  void set(std::size_t slot) { words_[slot >> 6U] |= std::uint64_t{1} << (slot & 63U); }
  [[nodiscard]] bool test(std::size_t slot) const { return ((words_[slot >> 6U] >> (slot & 63U)) & 1U) != 0; }
  void set(std::size_t first, std::size_t count);
  void clear(std::size_t first, std::size_t count);
  [[nodiscard]] bool any(std::size_t first, std::size_t count) const {
    for (std::size_t slot = first; slot < first + count; ++slot) {
      if (test(slot)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// One pool: its pages, how many are free, which are deferred, which slots hold KV of their present lending.
struct PoolState {
  std::vector<PageRecord> pages;  ///< [0] is padding
  std::int64_t free_pages = 0;
  std::vector<Page> deferred;
  SlotBits written;
  SlotBits lost;                  ///< slots whose KV went in a pause, of lendings up to `lost_before`; memory alone
  std::vector<OpIndex> lost_op;   ///< by page: the last pause in which KV of it went
  std::uint32_t lost_before = 0;  ///< the last generation at the last such pause; 0 = there was none

  void assign(std::int64_t page_count, Tokens page);
  [[nodiscard]] std::int64_t page_count() const { return static_cast<std::int64_t>(pages.size()) - 1; }
  PageRecord& at(Page page) { return pages[static_cast<std::size_t>(page)]; }
  [[nodiscard]] const PageRecord& at(Page page) const { return pages[static_cast<std::size_t>(page)]; }
};

/// One row. Entries of `pages`: > 0 the page held; < 0 minus the op that gave it up.
struct RowState {
  std::vector<Page> pages;
  Pos length = 0;
  Pos frontier = 0;              ///< C8: evicted up to here
  std::int64_t slot = -1;        ///< request slot, -1 = none
  std::uint32_t generation = 0;  ///< of what it writes to its ring; new whenever the row starts afresh
  std::uint32_t life = 0;        ///< of its request slot
  OpIndex slot_op = 0;           ///< when the slot was taken or given back
  OpIndex length_op = 0;         ///< when the length changed last
  OpIndex evict_op = 0;          ///< last free_swa
  std::uint32_t touch = 0;       ///< scratch: last batch that named it
};

struct SlotState {
  std::int64_t owner = -1;  ///< row, -1 = free
  OpIndex taken_op = 0;
};

/// What one row of the ring storage holds.
struct RingCell {
  std::uint32_t life = 0;  ///< of the request slot when it was written; 0 = nothing, or lent again since
  std::uint32_t generation = 0;
  std::uint32_t position = 0;
  OpIndex lost_op = 0;  ///< the pause in which it went; 0 = it is there
};

/// What the machine knows of the memory behind the pools.
struct MemoryState {
  std::vector<BufferPlan> plan;
  bool built = true;
  OpIndex built_op = 0;                ///< of the last build or destroy
  std::array<bool, 2> paused{};        ///< by MemoryTag
  std::array<OpIndex, 2> paused_op{};  ///< of the last pause or resume
  std::vector<std::uint64_t> digests;  ///< by plan: content at the last pause, where it is backed up
};

/// One row's part of a lending op. SWA peers are due for [swa_begin, swa_end).
struct Lending {
  Row row = 0;
  Pos begin = 0;
  Pos end = 0;
  Pos swa_begin = 0;
  Pos swa_end = 0;
  bool continues_swa = true;  ///< SWA goes on after the last loc's peer; false: it starts on new pages
};

/// A snapshot: all but request slots and KV.
struct Snapshot {
  std::uint32_t name = 0;
  OpIndex op = 0;
  PoolState full;
  PoolState swa;
  std::vector<std::int32_t> peers;
  std::vector<RowState> rows;
};

/// What a call leaves behind for the next step alone: no part of a copy.
template <typename T>
struct Scratch : T {
  Scratch() = default;
  ~Scratch() = default;
  Scratch(const Scratch& /*other*/) : T() {}
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(const Scratch& /*other*/) { return *this; }
  Scratch& operator=(Scratch&&) noexcept = default;
};

struct Machine::State {
  Geometry geo;  ///< sizes as resized
  PoolState full;
  PoolState swa;
  std::vector<std::int32_t> peers;  ///< hybrid: by full loc; 0 = none
  std::vector<RowState> rows;
  std::vector<SlotState> slots;
  std::int64_t slots_free = 0;
  std::vector<RingCell> ring;
  std::vector<Snapshot> snapshots;
  MemoryState memory;
  Ledger ledger;
  std::uint32_t generations = 0;
  OpIndex ops_done = 0;
  bool group_open = false;
  OpIndex group_op = 0;
  std::vector<Page> group_pages;  ///< full pages that the open group's frees touched
  bool refused = false;
  Tokens idle_swa_available = 0;  ///< ring: what the paged SWA pool reported when fresh
  OpWord word = OpWord::slot;     ///< of the op being observed
  bool restored = false;          ///< the last op was a restore
  std::uint32_t touch = 0;
  std::uint32_t touch_deferred = 0;

  std::int32_t shift = 0;  ///< log2(page)

  // Scratch between admit and observe.
  Scratch<std::vector<Lending>> lendings;
  Scratch<std::vector<Piece>> pieces;  ///< of a free: sorted and merged
  Scratch<std::vector<Page>> touched_full;
  Scratch<std::vector<Page>> touched_swa;
  std::int64_t need_full = 0;
  std::int64_t need_swa = 0;
  Scratch<Plan> trial;  ///< of admits()

  explicit State(std::size_t life_events) : ledger(life_events) {}
  void reset(const Geometry& geometry);
  void reset_pools();

  [[nodiscard]] OpIndex op() const { return ops_done + 1; }
  [[nodiscard]] Tokens page() const { return geo.page; }
  [[nodiscard]] Page page_of(Loc loc) const { return static_cast<Page>(loc >> shift); }
  [[nodiscard]] Loc offset_of(Pos pos) const { return pos & (geo.page - 1); }
  [[nodiscard]] std::size_t index_of(Pos pos) const { return static_cast<std::size_t>(pos >> shift); }
  PoolState& pool(Pool which) { return which == Pool::full ? full : swa; }

  RowState& row(Row id) {
    if (id >= rows.size()) {
      rows.resize(id + 1);
    }
    return rows[id];
  }
  [[nodiscard]] const RowState* find_row(Row id) const { return id < rows.size() ? &rows[id] : nullptr; }
  /// Does the slot hold KV of its page's present lending?
  [[nodiscard]] static bool holds_kv(const PoolState& p, const PageRecord& record, Loc loc) {
    return record.stored == record.generation && p.written.test(static_cast<std::size_t>(loc));
  }
  /// Position must be live.
  [[nodiscard]] Loc loc_of(const RowState& r, Pos pos) const {
    return (static_cast<Loc>(r.pages[index_of(pos)]) << shift) + offset_of(pos);
  }
  [[nodiscard]] bool live(const RowState& r, Pos pos) const {
    return pos >= 0 && pos < r.length && r.pages[index_of(pos)] > 0;
  }
  void append_locs(const RowState& r, Range range, Locs& out) const;
  void append_page_locs(Page page, Locs& out) const;

  // machine_admit.cpp, machine_admit_free.cpp, machine_admit_data.cpp: the caller's side.
  using Fault = std::optional<Verdict>;
  Fault admit(const op::SlotTake& op, Plan& plan);
  Fault admit(const op::SlotGive& op, Plan& plan);
  Fault admit(const op::Alloc& op, Plan& plan);
  Fault admit(const op::Extend& op, Plan& plan);
  Fault admit(const op::Decode& op, Plan& plan);
  Fault admit(const op::Tail& op, Plan& plan);
  Fault admit(const op::Free& op, Plan& plan);
  Fault admit(const op::FreeSegment& op, Plan& plan);
  Fault admit(const op::Copy& op, Plan& plan);
  Fault admit(const op::Drop& op, Plan& plan);
  Fault admit(const op::Trim& op, Plan& plan);
  Fault admit(const op::Remap& op, Plan& plan);
  Fault admit(const op::Unmap& op, Plan& plan);
  Fault admit(const op::Write& op, Plan& plan);
  Fault admit(const op::Read& op, Plan& plan);
  Fault admit(const op::GroupBegin& op, Plan& plan);
  Fault admit(const op::GroupEnd& op, Plan& plan);
  Fault admit(const op::Backup& op, Plan& plan);
  Fault admit(const op::Restore& op, Plan& plan);
  Fault admit(const op::Clear& op, Plan& plan);
  Fault admit(const op::Resize& op, Plan& plan);
  Fault admit(const op::Expect& op, Plan& plan);
  // machine_memory.cpp
  Fault admit(const op::Pause& op, Plan& plan);
  Fault admit(const op::Resume& op, Plan& plan);
  Fault admit(const op::Destroy& op, Plan& plan);
  Fault admit(const op::Build& op, Plan& plan);
  Fault admit(const op::Flush& op, Plan& plan);
  [[nodiscard]] Fault admit_built(const Op& op) const;
  [[nodiscard]] Fault admit_memory(const char* doing) const;
  [[nodiscard]] bool tag_is(MemoryTag named, bool paused) const;

  Fault admit_row_end(Row id, Pos begin);
  Fault admit_tail_peer(Row id, const RowState& r);
  void plan_lending(const Lending& lending, const RowState& r, Plan& plan);
  void finish_lending_plan(Plan& plan) const;
  Fault admit_release(Side side);
  Fault admit_piece(const Piece& piece);
  Fault admit_held(Row id, Range range, Rule rule);
  Fault admit_whole_pages(Row id, const RowState& r, Range range);
  Fault admit_holders();
  Fault admit_peers(Side side);
  Fault admit_window(const Piece& piece);
  [[nodiscard]] Fault admit_no_group(const char* what) const;
  Fault admit_remap_target(const op::Remap& op);
  Fault admit_remap_donor(const op::Remap& op, const Plan& plan);
  [[nodiscard]] Stamp peer_stamp(std::int32_t peer, Pos pos) const;
  Fault admit_read_full(const op::Read& op, const RowState& r, Plan& plan);
  Fault admit_read_peers(const op::Read& op, const RowState& r, Plan& plan);
  Fault admit_read_ring(const op::Read& op, const RowState& r, Plan& plan);
  void plan_release(Plan& plan);
  void normalise_pieces();
  void touch_page(PageRecord& record, Page page, std::vector<Page>& list, std::uint32_t times) const;

  // machine_observe.cpp: the allocator's side.
  Fault observe(const op::SlotTake& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::SlotGive& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Alloc& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Extend& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Decode& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Tail& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Free& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::FreeSegment& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Copy& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Drop& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Trim& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Remap& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Unmap& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Write& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Read& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::GroupBegin& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::GroupEnd& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Backup& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Restore& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Clear& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Resize& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Expect& op, const Plan& plan, const Observation& seen);
  // machine_memory.cpp
  Fault observe(const op::Pause& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Resume& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Destroy& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Build& op, const Plan& plan, const Observation& seen);
  Fault observe(const op::Flush& op, const Plan& plan, const Observation& seen);
  void start_afresh();
  void lose_kv(PoolState& p) const;
  [[nodiscard]] static bool was_lost(const PoolState& p, const PageRecord& record, Loc loc) {
    return p.lost_before != 0 && record.stored == record.generation && record.generation <= p.lost_before &&
           p.lost.test(static_cast<std::size_t>(loc));
  }
  void lose_all_kv();
  [[nodiscard]] Fault turn_fault(const Plan& plan, const Observation& seen, const char* word, const char* state) const;
  [[nodiscard]] Fault check_still(const Observation& seen, const char* refused) const;
  [[nodiscard]] Fault check_pause(MemoryTag tag, const Observation& seen) const;
  void set_paused(MemoryTag named, bool paused);
  void keep_digests(MemoryTag named, const MemoryReport& before);
  [[nodiscard]] Fault check_in_use(const MemoryReport& before) const;

  Fault observe_lending(const Plan& plan, const Observation& seen);
  Fault adopt_full(const Lending& lending, std::span<const Loc> locs);
  Fault adopt_swa(const Lending& lending, std::span<const Loc> full_locs, std::span<const Loc> peers_seen);
  Fault adopt_run(Pool which, const Lending& lending, Range range, std::optional<Loc> last, std::span<const Loc> locs);
  Fault take_page(Pool which, const Lending& lending, Pos pos, Loc first);
  Fault outside_tail(const Lending& lending, Pos pos, Loc loc, Loc peer_seen);
  void set_peer(Loc loc, Loc peer);
  Fault observe_release(Side side, const Plan& plan, const Observation& seen);
  void release_peers(Page page);
  void give_back(Pool which, Page page, Row row);
  void give_up_rows(Side side);
  void shrink_row(RowState& r) const;
  [[nodiscard]] Fault check_cleared(const Plan& plan, const Observation& seen) const;
  Fault check_translations(const Locs& locs, std::span<const Loc> seen, Invariant wrong_peer, Invariant wrong_zero);
  Fault check_stamps(const op::Read& op, const Plan& plan, std::span<const Stamp> expected, std::span<const Stamp> seen,
                     std::size_t first);
  void credit_deferred(Pool which);
  void forget_rows();
  static void restore_pool(PoolState& now, const PoolState& then);
  void mark_written(Pool which, Loc loc, std::size_t count);
  void forget_ring(const RowState& r, Range range);

  // machine_digest.cpp
  void name_generations(GenerationNames& names) const;
  void digest(StateDigest& out) const;
  void digest_stored(const PoolState& p, StateDigest& out) const;
  [[nodiscard]] std::uint64_t digest_rows(const GenerationNames& names) const;
  [[nodiscard]] bool in_force(std::size_t cell) const;

  // machine.cpp
  [[nodiscard]] Fault unexpected_refusal(const Op& op) const;

  // machine_gauges.cpp: counters and lists.
  Fault check_gauges(const Op* op, const Gauges& seen);
  [[nodiscard]] Fault gauge_fault(const Op* op, const Gauges& want, const Gauges& seen) const;
  [[nodiscard]] Gauges expected_gauges() const;
  void add_touched(Verdict& verdict, OpIndex by) const;
  Fault census(const Census& seen);
  Fault census_pool(Pool which, const PoolCensus& seen);
  Fault census_list(Pool which, const std::vector<std::int64_t>& list, const char* name);
  Fault census_deferred(Pool which, const std::vector<std::int64_t>& list);
  [[nodiscard]] Fault census_idle(const PoolCensus& seen) const;
  Fault census_mapping(std::span<const Loc> mapping);
  Verdict mapping_fault(Loc loc, Loc seen);
  Fault census_slots(const std::vector<std::int64_t>& free_slots);
  Fault find_in_lists(const Census& seen, bool sentinel_alone);
  void add_lost_pages(Verdict& verdict, Pool which, const PoolCensus& lists);

  // machine_verdict.cpp: wording.
  [[nodiscard]] Verdict verdict(Cause cause, OpIndex other, std::string what, std::string expected = {},
                                std::string seen = {}) const;
  void add_history(Verdict& verdict, Pool which, Page page) const;
  [[nodiscard]] std::string page_name(Pool which, Page page) const;
  [[nodiscard]] std::string loc_name(Pool which, Loc loc) const;
  void log(LifeEvent event, Pool which, Page page, Row row, std::int64_t detail = 0) {
    ledger.append({op(), page, row, which, event, word, static_cast<std::int32_t>(detail)});
  }
};

}  // namespace poolproof
