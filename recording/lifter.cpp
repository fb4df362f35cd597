#include "recording/lifter.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "model/invariants.hpp"

namespace poolproof {

Lifter::Lifter(std::unique_ptr<Twin> twin, TraceWriter& writer, LogFindings& findings)
    : twin_(std::move(twin)),
      writer_(writer),
      findings_(findings),
      geo_(twin_->machine().geometry()),
      shift_(std::countr_zero(static_cast<std::uint64_t>(geo_.page))) {
  pages_.reset(geo_.full_pages());
}

// ---- ops and blame

std::string Lifter::text_of_place() const {
  return fmt::format("{}:{} call {} ({})", place_.file, place_.line, place_.n, place_.call);
}

/// True: the protocol allows the op. False: the caller's fault, which is found and stands in the trace too; `blamed`
/// says it in the log's words.
bool Lifter::emit(const Op& op, const std::string& blamed) {
  call_op_ = twin_->next_op();
  const std::optional<Verdict> verdict = twin_->step(op);
  if (verdict && !verdict->caller_fault() && broken_.empty()) {
    broken_ = fmt::format("{}: the twin itself fails at op {}: {} {}", text_of_place(), call_op_,
                          cause_id(verdict->cause), verdict->what);
  }
  if (verdict) {
    const std::string_view rule = cause_id(verdict->cause);
    std::string what = blamed.empty() ? verdict->what : fmt::format("{} ({})", blamed, verdict->what);
    writer_.comment(fmt::format("{}: {}: {}", text_of_place(), rule, what));
    findings_.add(LogFindingKind::caller_fault, rule, place_, call_op_, {std::move(what)});
    doubt();
  }
  writer_.op(op, place_.n);
  return !verdict;
}

/// The caller broke a rule by what `op` says. Where the op would pass, because its row serves another lending by now,
/// the fault is told without it.
void Lifter::blame(const Op& op, std::string_view rule, std::string what) {
  if (op_fault(op, twin_->machine().geometry()) || twin_->admits(op)) {
    blame(rule, std::move(what));
    return;
  }
  emit(op, what);
}

void Lifter::blame(std::string_view rule, std::string what) {
  writer_.comment(fmt::format("{}: {}: {} (no op says it)", text_of_place(), rule, what));
  findings_.add(LogFindingKind::caller_fault, rule, place_, 0, {std::move(what)});
  doubt();
}

/// The first thing that is wrong with a call is told; the rest follows from it.
void Lifter::violation(std::string_view id, std::string what, std::string expected, std::string recorded) {
  doubt();
  if (judged_) {
    return;
  }
  judged_ = true;
  std::string text = fmt::format("{}: {}: {}", text_of_place(), id, what);
  if (!expected.empty()) {
    text += fmt::format(" (expected {}, recorded {})", expected, recorded);
  }
  writer_.comment(text);
  findings_.add(LogFindingKind::violation, id, place_, call_op_,
                {std::move(what), std::move(expected), std::move(recorded)});
}

void Lifter::leave_out(std::string what) {
  writer_.comment(fmt::format("{}: left out: {}", text_of_place(), what));
  findings_.add(LogFindingKind::left_out, {}, place_, 0, {std::move(what)});
}

void Lifter::note(std::string what) {
  writer_.comment(fmt::format("{}: {}", text_of_place(), what));
  findings_.add(LogFindingKind::note, {}, place_, 0, {std::move(what)});
}

/// What the log's allocator has now is not for the twin to say.
void Lifter::doubt() {
  doubt_full_ = doubt_swa_ = true;
  group_doubted_ = group_doubted_ || twin_->machine().group_open();
}

// ---- calls

void Lifter::take(const LogCall& call, const CallPlace& place) {
  if (pending_ && join_mapping(call)) {
    place_ = place;
    return;
  }
  flush_mapping();
  place_ = place;
  call_op_ = 0;
  judged_ = doubt_full_ = doubt_swa_ = false;
  const std::uint64_t faults_before = findings_.count(LogFindingKind::caller_fault);
  lift(call);
  if (call.error) {
    report_raised(call, faults_before);
  }
  if (!pending_) {
    check_counts(call);
  }
}

void Lifter::lift(const LogCall& call) {
  switch (call.kind) {
    case LogCallKind::alloc:
      return lift_alloc(call);
    case LogCallKind::extend:
    case LogCallKind::decode:
    case LogCallKind::tail:
      return lift_lending(call);
    case LogCallKind::free:
      return lift_free(call);
    case LogCallKind::free_segments:
      return lift_segments(call);
    case LogCallKind::group_begin:
      return lift_group_begin(call);
    case LogCallKind::group_end:
      return lift_group_end(call);
    case LogCallKind::set_mapping:
    case LogCallKind::clear_mapping:
      pending_ = PendingMapping{call, place_};
      if (call.kind == LogCallKind::clear_mapping && !all_peers_live(call.locs)) {
        flush_mapping();
      }
      return;
    case LogCallKind::clear:
      return lift_whole_state(op::Clear{});
    case LogCallKind::resize:
      return lift_whole_state(op::Resize{call.full_size, geo_.hybrid() ? call.swa_size : 0});
    case LogCallKind::backup:
      return lift_backup(call);
    case LogCallKind::restore:
      return lift_restore(call);
    case LogCallKind::take_slot:
      return lift_take_slot(call);
    case LogCallKind::give_slot:
      return lift_give_slot(call);
    case LogCallKind::look:
      return;
  }
}

void Lifter::begin(const LogHeader& header, const CallPlace& place) {
  place_ = place;
  call_op_ = 0;
  if (!header.fresh) {
    pages_.doubt_all();
    unsure_ = group_unsure_ = slots_unsure_ = true;
    doubt();
  }
  LogCall built;
  built.name = place.call;
  built.gauges = header.gauges;
  check_counts(built);
}

void Lifter::lose(std::uint64_t count, const CallPlace& place) {
  flush_mapping();
  place_ = place;
  note(fmt::format("{} call{} missing here: what they lent or gave back is worked out from the calls after them", count,
                   count == 1 ? " is" : "s are"));
  pages_.doubt_all();
  unsure_ = group_unsure_ = slots_unsure_ = true;
  full_drift_.reset();
  swa_drift_.reset();
}

void Lifter::finish() { flush_mapping(); }

}  // namespace poolproof
