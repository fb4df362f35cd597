// Lifts calls on locs to ops on rows, and holds what the log recorded against the twin.
//
// A row is a chain of lendings. A lending that starts a page begins a new row at position 0, unless its last loc is the
// end of a row: then it goes on there. A free names the positions of the lendings that gave its locs. After a caller's
// fault, a wrong lending or missing calls the twin cannot know what the log's allocator did; counts are then taken as
// recorded and held to from there on, so that one fault is reported once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/log_findings.hpp"
#include "recording/log_pages.hpp"
#include "recording/log_record.hpp"
#include "recording/trace_writer.hpp"
#include "recording/twin.hpp"

namespace poolproof {

class Lifter {
 public:
  /// All but the twin outlive it.
  Lifter(std::unique_ptr<Twin> twin, TraceWriter& writer, LogFindings& findings);

  /// The counts of the fresh allocator, or of one that was in use before the recording.
  void begin(const LogHeader& header, const CallPlace& place);
  void take(const LogCall& call, const CallPlace& place);
  /// `count` calls are missing in front of the next one.
  void lose(std::uint64_t count, const CallPlace& place);
  /// The log is at its end.
  void finish();

  [[nodiscard]] std::uint64_t ops() const { return twin_->next_op() - 1; }
  [[nodiscard]] std::size_t rows_used() const { return pages_.rows_used(); }
  /// Not empty: the twin itself failed, and that is a fault of ours.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  enum class Fate : std::uint8_t { good, faulty, outside };
  /// One request of a lending call.
  struct Target {
    Row row = 0;
    Pos begin = 0;
    Pos end = 0;
    Fate fate = Fate::good;
    bool new_row = false;
    std::size_t first_loc = 0;  ///< of its answer
    Loc last_loc = -1;
  };
  /// Slots [begin, end) of one page.
  struct PagePart {
    std::int64_t page = 0;
    Pos begin = 0;
    Pos end = 0;
  };
  /// One call that gives back.
  struct Release {
    Side side = Side::both;
    bool segments = false;
    bool releases = true;              ///< full pages go back
    std::vector<Piece> pieces;         ///< that the protocol may allow
    std::vector<std::int64_t> pages;   ///< of those
    std::vector<Piece> faulty;         ///< that break a rule
    std::vector<Piece> mend;           ///< what a faulty call gave back all the same
    std::vector<std::int64_t> broken;  ///< pages of those
    std::string fault_what;            ///< of the first faulty one
    std::string_view fault_rule = "C1";
  };
  struct NamedSnapshot {
    std::int64_t key = 0;
    std::uint32_t name = 0;
    std::uint64_t used = 0;
    LogPages::Snapshot pages;
  };
  struct PendingMapping {
    LogCall call;
    CallPlace place;
  };

  // lifter.cpp: ops, blame, and the dispatch.
  bool emit(const Op& op, const std::string& blamed = {});
  void blame(const Op& op, std::string_view rule, std::string what);
  void blame(std::string_view rule, std::string what);
  void violation(std::string_view id, std::string what, std::string expected, std::string recorded);
  void leave_out(std::string what);
  void note(std::string what);
  void doubt();
  void lift(const LogCall& call);
  [[nodiscard]] std::string text_of_place() const;

  // lift_counts.cpp
  void check_counts(const LogCall& call);
  /// One pool's available size: as recorded, and as the twin has it.
  struct Count {
    const char* name;
    std::optional<Tokens> recorded;
    Tokens due;
    Tokens size;
  };
  void check_count(const Count& count, const LogCall& call, std::optional<Tokens>& drift);
  [[nodiscard]] std::string_view meaning_of(const LogCall& call, bool more) const;
  void report_raised(const LogCall& call, std::uint64_t faults_before);
  /// Do the twin's counts say what the log's allocator has?
  [[nodiscard]] bool comparable() const;

  // lift_lending.cpp
  void lift_lending(const LogCall& call);
  void lift_alloc(const LogCall& call);
  Target resolve(const LogCall& call, std::size_t request);
  void resolve_inside_page(Target& target, Pos length_in_page);
  bool reach_row_end(Row row, Pos end, std::int64_t page);
  std::optional<Row> split_off(std::int64_t page, Pos end);
  void take_new_row(Target& target, Tokens tokens);
  std::optional<Row> empty_row();
  std::optional<Row> any_row_at_page_border();
  [[nodiscard]] Op lending_op(const LogCall& call, std::span<const Target> targets) const;
  bool lend_good(const LogCall& call);
  bool lend_part(const LogCall& call, std::span<const Target> part);
  void set_faulty_apart(const LogCall& call);
  void emit_faulty(const LogCall& call);
  void lend(const LogCall& call);
  void judge_refusal();
  void undo(std::span<const Target> part);
  void attach(bool followed);
  void attach(const Target& target, bool followed);
  void take_page(const Target& target, Pos pos, Loc first, bool followed);
  void read_answer(const LogCall& call);
  void give_back_relent();
  void touch_row(Row row);
  [[nodiscard]] bool touched(Row row) const { return row < row_touch_.size() && row_touch_[row] == touch_; }

  // lift_release.cpp
  void lift_free(const LogCall& call);
  void lift_segments(const LogCall& call);
  void gather(const LoggedRuns& runs);
  void sort_parts();
  void classify(Release& release);
  void classify_page(Release& release, std::size_t first, std::size_t last);
  void classify_lent(Release& release, std::size_t first, std::size_t last);
  void classify_not_lent(Release& release, std::size_t first, std::size_t last);
  void finish_release(Release& release);
  bool emit_release(const Release& release);
  bool emit_pieces(Side side, const std::vector<Piece>& pieces);
  bool emit_segments(const Release& release);
  void settle(const std::vector<std::int64_t>& pages, const Release& release);
  void mend(const std::vector<Piece>& pieces);
  [[nodiscard]] bool segments_in_order(const LogCall& call) const;
  void blame_segments(const LogCall& call, Release& release);
  bool adopt(std::int64_t page, Tokens tokens);

  // lift_state.cpp
  void lift_group_begin(const LogCall& call);
  void lift_group_end(const LogCall& call);
  bool emit_outside_of_groups(const Op& op);
  void lift_whole_state(const Op& op);
  void lift_backup(const LogCall& call);
  void lift_restore(const LogCall& call);
  void lift_take_slot(const LogCall& call);
  void give_back_retaken(std::int64_t slot);
  void judge_slot(const LogCall& call, bool served);
  void lift_give_slot(const LogCall& call);
  void forget_all();

  // lift_mapping.cpp
  bool join_mapping(const LogCall& call);
  void flush_mapping();
  void lift_remap(const LogCall& set, const LogCall& cleared);
  void lift_unmap(const LogCall& call);
  [[nodiscard]] bool remap_goes_on(std::size_t i) const;
  [[nodiscard]] bool remap_sayable() const;
  bool cut_target(Loc last);
  bool cut_targets();
  [[nodiscard]] bool all_peers_live(const LoggedRuns& runs) const;
  void mark_swa_unknown(const LoggedRuns& runs);
  bool flatten(const LoggedRuns& runs, Locs& out) const;

  [[nodiscard]] std::int64_t page_of(Loc loc) const { return loc >> shift_; }
  [[nodiscard]] Loc offset_of(Loc loc) const { return loc & (geo_.page - 1); }
  /// Position in the row of the owner's slot.
  [[nodiscard]] Pos position_of(const LogPage& page, Loc offset) const {
    return (static_cast<Pos>(page.index) << shift_) + offset;
  }

  std::unique_ptr<Twin> twin_;
  TraceWriter& writer_;
  LogFindings& findings_;
  Geometry geo_;
  std::int32_t shift_ = 0;
  LogPages pages_;
  CallPlace place_;
  std::string broken_;
  OpIndex call_op_ = 0;  ///< last op of the call at hand; 0 = none so far

  bool unsure_ = false;         ///< some page is
  bool group_unsure_ = false;   ///< a group may be open or not
  bool group_doubted_ = false;  ///< what the open group gives back at its end is not the twin's to say
  bool slots_unsure_ = false;   ///< slots may be taken that the log does not show
  bool swa_unknown_ = false;    ///< some page's SWA half is not known
  bool mixed_ = false;          ///< a load-back was seen: SWA pages may serve two full pages
  bool judged_ = false;         ///< this call was found wrong already
  bool doubt_full_ = false;     ///< this call's counts are taken as recorded
  bool doubt_swa_ = false;
  std::optional<Tokens> full_drift_ = 0;  ///< recorded less twin's; nothing = as recorded next
  std::optional<Tokens> swa_drift_ = 0;

  std::map<std::int64_t, Row> slot_rows_;
  std::vector<NamedSnapshot> snapshots_;
  std::uint64_t snapshots_used_ = 0;
  std::optional<PendingMapping> pending_;

  // Scratch.
  std::vector<Target> targets_;
  Locs answer_;
  std::vector<PagePart> parts_;
  Locs targets_of_remap_;
  Locs donors_of_remap_;
  std::vector<std::uint32_t> row_touch_;
  std::uint32_t touch_ = 0;
  Row border_cursor_ = 0;
  Release release_;
};

}  // namespace poolproof
