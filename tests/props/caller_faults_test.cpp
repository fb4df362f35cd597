// Each protocol rule, broken on purpose: the verdict is the caller's, names the rule and both ops, reads well, and the
// allocator was not called.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "tests/naive/recorder.hpp"

namespace poolproof {
namespace {

/// The last op of the trace is the fault.
struct Case {
  std::string name;   ///< starts with the rule's id
  OpIndex other = 0;  ///< the op that it collides with, from 1; 0 = none
  std::string what;
  std::string trace;
};

void PrintTo(const Case& fault, std::ostream* out) { *out << fault.name; }

class CallerFaults : public testing::TestWithParam<Case> {};

TEST_P(CallerFaults, AreBlamedOnTheCaller) {
  const Case& fault = GetParam();
  const auto trace = parse_trace("poolproof 1\n" + fault.trace, fault.name);
  ASSERT_TRUE(trace) << trace.error().render();
  naive::Recorder recorder(std::move(host_impl_for(trace->geometry).make(trace->geometry)).value());
  Machine machine(trace->geometry);
  Lockstep lockstep(machine, recorder);
  ASSERT_FALSE(lockstep.start());
  for (std::size_t i = 0; i + 1 < trace->ops.size(); ++i) {
    const auto verdict = lockstep.step(trace->ops[i]);
    ASSERT_FALSE(verdict) << "op " << i + 1 << ": " << verdict->what;
    ASSERT_FALSE(lockstep.last_refused()) << "op " << i + 1;
  }
  recorder.forget();
  const auto verdict = lockstep.step(trace->ops.back());
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->caller_fault());
  EXPECT_EQ(cause_blame(verdict->cause), "the caller");
  EXPECT_EQ(cause_id(verdict->cause), fault.name.substr(0, fault.name.find('_')));
  EXPECT_EQ(verdict->op, trace->ops.size());
  EXPECT_EQ(verdict->other_op, fault.other);
  EXPECT_EQ(verdict->what, fault.what);
  EXPECT_TRUE(recorder.calls().empty());
}

// The faulty op can be left out: everything is as it was.
TEST_P(CallerFaults, ChangeNothing) {
  const auto trace = parse_trace("poolproof 1\n" + GetParam().trace, GetParam().name);
  ASSERT_TRUE(trace) << trace.error().render();
  const auto allocator = std::move(host_impl_for(trace->geometry).make(trace->geometry)).value();
  Machine machine(trace->geometry);
  Lockstep lockstep(machine, *allocator);
  ASSERT_FALSE(lockstep.start());
  for (std::size_t i = 0; i + 1 < trace->ops.size(); ++i) {
    ASSERT_FALSE(lockstep.step(trace->ops[i]));
  }
  const OpIndex next = machine.next_op();
  EXPECT_FALSE(machine.admits(trace->ops.back()));
  const auto first = lockstep.step(trace->ops.back());
  const auto second = lockstep.step(trace->ops.back());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->what, second->what);
  EXPECT_EQ(machine.next_op(), next);
  EXPECT_FALSE(lockstep.census());
}

std::vector<Case> cases() {
  return {
      {"C1_freed_twice", 2, "r0 gave up position 0 at op 2", R"(pool layout=paged page=4 full=4p
extend r0 0..8
free r0 0..4
free r0 0..4
)"},
      {"C1_freed_in_the_same_group", 3, "r0 gave up position 4 at op 3", R"(pool layout=paged page=4 full=4p
extend r0 0..8
group_begin
free r0 4..8
free r0 0..8
)"},
      {"C1_never_lent", 0, "r0 was never lent position 0", R"(pool layout=paged page=4 full=4p
free r0 0..4
)"},
      {"C1_behind_the_end", 1, "r0 was never lent position 4", R"(pool layout=token page=1 full=8
extend r0 0..4
free_segment r0 2..6
)"},
      {"C1_peers_given_back_twice", 2, "the SWA peers of page F:1 were given up at op 2 already",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..8
free_swa r0 0..4
free_swa r0 0..4
)"},
      {"C1_dropping_the_only_hold", 1, "r0 is the last to hold page F:1, which would never be given back",
       R"(pool layout=paged page=4 full=4p
extend r0 0..4
drop r0 0..4
)"},
      {"C1_dropped_twice", 3, "r1 gave up position 0 at op 3", R"(pool layout=paged page=4 full=4p
extend r0 0..8
copy r1 0..8 = r0
drop r1 0..4
drop r1 0..4
)"},
      {"C1_remapped_onto_a_live_peer", 2, "r1's F:2.0 still has its peer S:2.0, which could never be given back",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..4
extend r1 0..4
remap r1 0..4 <- r0 0..4
)"},
      {"C1_unmapped_a_live_peer", 1, "r0's F:1.0 still has its peer S:1.0, which could never be given back",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..4
unmap r0 0..4
)"},
      {"C1_sliding_slot_freed_twice", 2, "r0 gave up position 0 at op 2", R"(pool layout=pure_swa page=1 full=8 window=2
extend r0 0..4
free_swa r0 0..2
free r0 0..4
)"},
      {"C2_read_after_free", 3, "r0 gave up position 0 at op 3", R"(pool layout=paged page=4 full=4p
extend r0 0..8
write r0 0..8
free r0 0..4
read r0 0..8
)"},
      {"C2_write_after_free", 2, "r0 gave up position 1 at op 2", R"(pool layout=token page=1 full=8
extend r0 0..4
free r0 1..2
write r0 0..4
)"},
      {"C2_copy_after_free", 2, "r0 gave up position 0 at op 2", R"(pool layout=paged page=4 full=4p
extend r0 0..8
free r0 0..4
copy r1 0..8 = r0
)"},
      {"C2_read_of_what_was_never_written", 1, "r0 never wrote position 3 (F:1.3)", R"(pool layout=paged page=4 full=4p
extend r0 0..4
write r0 0..3
read r0 0..4
)"},
      {"C2_read_of_a_former_owners_kv", 4, "r1 never wrote position 0 (F:1)", R"(pool layout=token page=1 full=1
extend r0 0..1
write r0 0..1
free r0 0..1
extend r1 0..1
read r1 0..1
)"},
      {"C2_tombstone_in_the_window", 3, "the window reads r0's position 2, a tombstone",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=6
extend r0 0..8
write r0 0..8
free_swa r0 0..4
read r0 4..8
read r0 0..8
)"},
      {"C2_donor_without_a_peer", 2, "r0's F:1.0 has no peer to hand over",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..4
free_swa r0 0..4
tail r1 0..8 swa=4..8
remap r1 0..4 <- r0 0..4
)"},
      {"C2_ring_row_written_over", 2, "r0's ring holds position 0 where position 4 was",
       R"(pool layout=hybrid page=1 full=8 swa=1 ring=4 window=4 reqs=1
slot r0
extend r0 0..6
write r0 0..6
write r0 0..2
read r0 3..6
)"},
      {"C2_shared_prefix_is_not_in_the_ring", 4,
       "the ring of request slot 2 holds nothing that r1 wrote for position 0: KV_FRESH cannot hold",
       R"(pool layout=hybrid page=1 full=8 swa=1 ring=4 window=4 reqs=2
slot r0
extend r0 0..4
write r0 0..4
slot r1
copy r1 0..4 = r0
read r1 0..4
)"},
      {"C3_part_of_a_page", 1, "page F:2 holds r0's positions 4..8, of which 6..8 stay live",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
free r0 0..6
)"},
      {"C3_segment_ends_before_live_tokens", 1, "page F:2 holds r0's positions 4..8, of which 6..8 stay live",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
free_segment r0 4..6
)"},
      {"C3_another_holder", 2, "r1 still holds page F:1 (positions 0..4)", R"(pool layout=paged page=4 full=4p
extend r0 0..8
copy r1 0..4 = r0
free r0 0..8
)"},
      {"C3_another_full_page_on_the_swa_page", 1,
       "SWA page S:1 serves another full page too: 2 of its 4 mapped slots stay live",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..8
extend r1 0..8
free_swa r1 0..8
remap r1 0..4 <- r0 2..6
free_swa r0 0..8
)"},
      {"C3_sharing_half_a_page", 1, "6 lies inside a page of r0; only whole pages are shared",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
copy r1 0..6 = r0
)"},
      {"C3_trimming_a_shared_page", 1, "page F:2 is shared; its tokens cannot be rejected by r0 alone",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
copy r1 0..8 = r0
trim r0 6
)"},
      {"C4_starts_inside_a_page", 1, "the segment 2..8 of r0 starts inside a page of 4",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
free_segment r0 2..8
)"},
      {"C4_descending", 1, "the segment 0..4 of r0 does not lie on pages after those of 4..8",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
free_segment r0 4..8, 0..4
)"},
      {"C4_one_page_in_two_segments", 1, "the segment 4..8 of r0 does not lie on pages after those of 0..8",
       R"(pool layout=paged page=4 full=4p
extend r0 0..8
free_segment r0 0..8, 4..8
)"},
      {"C4_swa_side", 1, "the segment 6..8 of r0 starts inside a page of 4",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=2
extend r0 0..12
free_swa_segment r0 6..8
)"},
      {"C5_live_peers", 1, "F:1.0 still has its peer S:1.0", R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..4
free_full r0 0..4
)"},
      {"C5_recovered_peers", 3, "F:1.0 still has its peer S:1.0", R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..4
free_swa r0 0..4
extend r1 0..4
remap r0 0..4 <- r1 0..4
free_full_segment r0 0..4
)"},
      {"C5_half_evicted", 1, "F:3 still has its peer S:3", R"(pool layout=hybrid page=1 full=8 swa=8 window=2
extend r0 0..4
free_swa r0 0..2
free_full r0 0..4
)"},
      {"C6_nested_begin", 1, "a free group is opened while one is open", R"(pool layout=paged page=4 full=4p
group_begin
group_begin
)"},
      {"C6_lone_end", 0, "a free group is ended and none is open", R"(pool layout=paged page=4 full=4p
group_end
)"},
      {"C6_ended_twice", 2, "a free group is ended and none is open", R"(pool layout=paged page=4 full=4p
group_begin
group_end
group_end
)"},
      {"C6_backup_in_a_group", 1, "backup inside an open free group", R"(pool layout=paged page=4 full=4p
group_begin
backup b0
)"},
      {"C6_restore_in_a_group", 2, "restore inside an open free group", R"(pool layout=paged page=4 full=4p
backup b0
group_begin
restore b0
)"},
      {"C6_restore_without_backup", 0, "b1 was not backed up (clear and resize forget backups)",
       R"(pool layout=paged page=4 full=4p
restore b1
)"},
      {"C6_restore_after_clear", 0, "b1 was not backed up (clear and resize forget backups)",
       R"(pool layout=paged page=4 full=4p
backup b1
clear
restore b1
)"},
      {"C6_clear_in_a_group", 1, "clear inside an open free group", R"(pool layout=paged page=4 full=4p
group_begin
clear
)"},
      {"C6_resize_in_a_group", 1, "resize inside an open free group", R"(pool layout=paged page=4 full=4p
group_begin
resize full=2p
)"},
      {"C6_probe_without_a_group", 0, "`group_begin again` probes an open group, and none is open",
       R"(pool layout=paged page=4 full=4p
group_begin again
)"},
      {"C6_probe_inside_a_group", 1, "`group_end again` probes a closed group, and one is open",
       R"(pool layout=paged page=4 full=4p
group_begin
group_end again
)"},
      {"C7_gap", 1, "r0 has 4 tokens, the op goes on from position 5", R"(pool layout=paged page=4 full=4p
extend r0 0..4
extend r0 5..8
)"},
      {"C7_overlap", 2, "r0 has 3 tokens, the op goes on from position 2", R"(pool layout=token page=1 full=8
extend r0 0..2
decode r0
extend r0 2..4
)"},
      {"C7_row_twice_in_a_batch", 0, "r0 stands twice in one batch", R"(pool layout=token page=1 full=8
decode r0, r1, r0
)"},
      {"C7_tombstone_tail", 2, "r0 is extended from a tombstone: position 2 (F:1.2) has no SWA peer",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..3
free_swa r0 0..3
decode r0
)"},
      {"C7_peer_at_another_offset", 1,
       "r0 cannot go on inside SWA page S:1: its peer sits at another offset there, or another full page uses the page "
       "too",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..3
free_swa r0 0..3
extend r1 0..4
remap r0 0..3 <- r1 1..4
decode r0
)"},
      {"C7_swa_page_in_use_by_others", 1,
       "r0 cannot go on inside SWA page S:1: its peer sits at another offset there, or another full page uses the page "
       "too",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4
extend r0 0..3
free_swa r0 0..3
extend r1 0..4
remap r0 0..3 <- r1 0..3
decode r0
)"},
      {"C8_inside_the_window", 2, "r0 runs with 12 tokens and window 5: eviction may go up to 4, not 8",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=5 reqs=1
slot r0
extend r0 0..12
free_swa r0 0..8
)"},
      {"C8_backwards", 3, "r0 was evicted up to 8 already; 0 lies behind that",
       R"(pool layout=hybrid page=4 full=4p swa=4p window=4 reqs=1
slot r0
extend r0 0..12
free_swa r0 4..8
free_swa r0 0..4
)"},
      {"C8_sliding_slots", 2, "r0 runs with 6 tokens and window 2: eviction may go up to 4, not 5",
       R"(pool layout=pure_swa page=1 full=8 window=2 reqs=1
slot r0
extend r0 0..6
free_swa r0 0..5
)"},
      {"C8_ring", 2, "r0 runs with 6 tokens and window 3: eviction may go up to 2, not 4",
       R"(pool layout=hybrid page=2 full=4p swa=1p ring=4 window=3 reqs=1
slot r0
extend r0 0..6
free_swa_segment r0 0..4
)"},
      {"C9_taken_twice", 1, "r0 holds request slot 1 already", R"(pool layout=token page=1 full=4 reqs=2
slot r0
slot r0
)"},
      {"C9_given_back_without", 0, "r0 never took a request slot", R"(pool layout=token page=1 full=4 reqs=2
unslot r0
)"},
      {"C9_given_back_twice", 2, "r0 holds no request slot any more", R"(pool layout=token page=1 full=4 reqs=2
slot r0
unslot r0
unslot r0
)"},
      {"C9_ring_write_without_a_slot", 0, "r0 holds no request slot, so it has no ring to write to",
       R"(pool layout=hybrid page=2 full=4p swa=1p ring=4 window=3 reqs=1
extend r0 0..6
write r0 0..6
)"},
      {"C9_ring_read_after_giving_it_back", 4, "r0 holds no request slot, so it has no ring to read",
       R"(pool layout=hybrid page=2 full=4p swa=1p ring=4 window=3 reqs=1
slot r0
extend r0 0..6
write r0 0..6
unslot r0
read r0 0..6
)"},
      {"C10_across_lent_pages", 1, "rejecting r0's tokens from 7 on leaves whole pages lent; free them first",
       R"(pool layout=paged page=4 full=4p
extend r0 0..10
trim r0 7
)"},
      {"C10_a_whole_page", 1, "rejecting r0's tokens from 8 on leaves whole pages lent; free them first",
       R"(pool layout=paged page=4 full=4p
extend r0 0..10
trim r0 8
)"},
      {"C10_beyond_the_end", 1, "r0 has 4 tokens: there is no position 5 to reject from",
       R"(pool layout=paged page=4 full=4p
extend r0 0..4
trim r0 5
)"},
      {"C10_speculation_overwrote_the_ring", 4,
       "r0's ring holds position 6 where position 2 was: a rejected token went over it, KV_INTACT cannot hold",
       R"(pool layout=hybrid page=4 full=4p swa=1p ring=4 window=4 reqs=1
slot r0
extend r0 0..8
write r0 0..8
trim r0 6
read r0 0..6
)"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, CallerFaults, testing::ValuesIn(cases()),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace poolproof
