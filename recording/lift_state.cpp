// Free groups, request slots, snapshots, and calls that begin everything anew.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

/// Snapshots that are kept at once: each is as large as the pool. The one that was used longest ago makes room.
constexpr std::size_t most_snapshots = 8;

}  // namespace

// ---- groups

void Lifter::lift_group_begin(const LogCall& call) {
  if (group_unsure_ && twin_->machine().group_open()) {
    note("the group before it ended in calls that are missing");
    doubt();
    emit(op::GroupEnd{});
    pages_.credit_deferred();
  }
  group_unsure_ = false;
  group_doubted_ = group_doubted_ && twin_->machine().group_open();
  emit(op::GroupBegin{call.again && twin_->machine().group_open()});
}

void Lifter::lift_group_end(const LogCall& call) {
  const bool open = twin_->machine().group_open();
  if (group_unsure_ && !open) {
    group_unsure_ = false;
    note("the group began before the recording, or in calls that are missing");
    doubt();
    return;
  }
  group_unsure_ = false;
  if (std::exchange(group_doubted_, false)) {
    doubt_full_ = doubt_swa_ = true;
  }
  if (emit(op::GroupEnd{call.again && !open})) {
    pages_.credit_deferred();
  }
}

// ---- the whole state

void Lifter::forget_all() {
  pages_.reset(twin_->machine().full_size() >> shift_);
  slot_rows_.clear();
  snapshots_.clear();
  unsure_ = group_unsure_ = slots_unsure_ = swa_unknown_ = mixed_ = false;
  full_drift_ = 0;
  swa_drift_ = 0;
}

/// What may not be done inside a group is the caller's fault there, and the log's allocator did it all the same.
bool Lifter::emit_outside_of_groups(const Op& op) {
  const bool open = twin_->machine().group_open();
  if (!(open && group_unsure_) && emit(op)) {
    return true;
  }
  if (!open) {
    return false;
  }
  writer_.comment("the group is ended, so that what follows has what the log's allocator had");
  emit(op::GroupEnd{});
  pages_.credit_deferred();
  return emit(op);
}

/// clear, resize.
void Lifter::lift_whole_state(const Op& op) {
  if (const std::optional<std::string> fault = op_fault(op, twin_->machine().geometry())) {
    doubt();
    return leave_out(*fault);
  }
  if (emit_outside_of_groups(op)) {
    forget_all();
  }
}

void Lifter::lift_backup(const LogCall& call) {
  auto slot = std::find_if(snapshots_.begin(), snapshots_.end(),
                           [&](const NamedSnapshot& snapshot) { return snapshot.key == call.key; });
  if (slot == snapshots_.end() && snapshots_.size() < most_snapshots) {
    snapshots_.push_back({call.key, static_cast<std::uint32_t>(snapshots_.size()), 0, {}});
    slot = snapshots_.end() - 1;
  } else if (slot == snapshots_.end()) {
    slot = std::min_element(snapshots_.begin(), snapshots_.end(),
                            [](const NamedSnapshot& a, const NamedSnapshot& b) { return a.used < b.used; });
  }
  if (emit(op::Backup{slot->name})) {
    *slot = {call.key, slot->name, ++snapshots_used_, pages_.snapshot()};
  }
}

void Lifter::lift_restore(const LogCall& call) {
  const auto slot = std::find_if(snapshots_.begin(), snapshots_.end(),
                                 [&](const NamedSnapshot& snapshot) { return snapshot.key == call.key; });
  if (slot == snapshots_.end()) {
    leave_out(fmt::format("the backup {} is not in the log, or too many came after it", call.key));
    doubt();
    pages_.doubt_all();
    unsure_ = true;
    return;
  }
  slot->used = ++snapshots_used_;
  if (emit_outside_of_groups(op::Restore{slot->name})) {
    pages_.restore(slot->pages);
  }
}

// ---- request slots

/// It went back in calls that are missing.
void Lifter::give_back_retaken(std::int64_t slot) {
  const auto owner = slot_rows_.find(slot);
  if (owner == slot_rows_.end()) {
    return;
  }
  note(fmt::format("request slot {} was given back in calls that are missing", slot));
  doubt();
  emit(op::SlotGive{owner->second});
  pages_.drop_slot(owner->second);
  slot_rows_.erase(owner);
}

/// Is the answer one that may be? `served`: the twin had a slot to give.
void Lifter::judge_slot(const LogCall& call, bool served) {
  if (!call.served) {
    if (served && !call.error && !slots_unsure_) {
      violation("SERVED_WHEN_FITS", "a request slot is free and none was given",
                fmt::format("one of {}", twin_->machine().slots_free() + 1), "refused");
    }
    return;
  }
  const bool held = slot_rows_.contains(call.slot);
  const bool exists = call.slot >= 0 && call.slot <= geo_.reqs;
  if (held || !exists || (!served && !slots_unsure_)) {
    violation("RING_SLOT_EXCLUSIVE",
              fmt::format("request slot {} was given, which {}", call.slot,
                          !exists ? "does not exist"
                          : held  ? "is taken"
                                  : "makes more than there are"),
              "a free request slot", fmt::format("{}", call.slot));
  }
}

void Lifter::lift_take_slot(const LogCall& call) {
  if (const std::optional<std::string> fault = op_fault(op::SlotTake{0}, twin_->machine().geometry())) {
    return leave_out(*fault);
  }
  if (slots_unsure_ && call.served) {
    give_back_retaken(call.slot);
  }
  const std::optional<Row> row = empty_row();
  if (!row) {
    return leave_out("a trace has no more than 65536 rows, and all of them hold something");
  }
  const bool served = emit(op::SlotTake{*row}) && !twin_->refused();
  judge_slot(call, served);
  if (served && call.served) {
    pages_.hold_slot(*row);
    slot_rows_[call.slot] = *row;
  } else if (served) {
    emit(op::SlotGive{*row});
  }
  pages_.return_row(*row);
}

void Lifter::lift_give_slot(const LogCall& call) {
  if (const std::optional<std::string> fault = op_fault(op::SlotGive{0}, twin_->machine().geometry())) {
    return leave_out(*fault);
  }
  auto owner = slot_rows_.find(call.slot);
  if (owner == slot_rows_.end() && slots_unsure_) {
    const std::optional<Row> row = empty_row();
    note(fmt::format("request slot {} was taken before the recording, or in calls that are missing", call.slot));
    doubt();
    if (!row || !emit(op::SlotTake{*row}) || twin_->refused()) {
      return;
    }
    pages_.hold_slot(*row);
    owner = slot_rows_.emplace(call.slot, *row).first;
  }
  if (owner == slot_rows_.end()) {
    const std::string what = fmt::format("request slot {} is given back and is not taken", call.slot);
    if (const std::optional<Row> row = pages_.unused_row()) {
      blame(op::SlotGive{*row}, "C9", what);
    } else {
      blame("C9", what);
    }
    return;
  }
  emit(op::SlotGive{owner->second});
  pages_.drop_slot(owner->second);
  slot_rows_.erase(owner);
}

}  // namespace poolproof
