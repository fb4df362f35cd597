// What the log recorded against what should have been: counts after each call, and calls that raised.
#include <fmt/format.h>

#include "recording/lifter.hpp"

namespace poolproof {
namespace {

bool lends(LogCallKind kind) {
  return kind == LogCallKind::alloc || kind == LogCallKind::extend || kind == LogCallKind::decode ||
         kind == LogCallKind::tail || kind == LogCallKind::take_slot;
}

bool frees(LogCallKind kind) {
  return kind == LogCallKind::free || kind == LogCallKind::free_segments || kind == LogCallKind::group_begin;
}

}  // namespace

bool Lifter::comparable() const {
  return full_drift_ == 0 && swa_drift_ == 0 && !doubt_full_ && !doubt_swa_ && !swa_unknown_;
}

/// What a wrong count means, by the call that it shows after.
std::string_view Lifter::meaning_of(const LogCall& call, bool more) const {
  if (lends(call.kind) && !call.served && !call.error) {
    return "ALL_OR_NOTHING";
  }
  if (call.kind == LogCallKind::restore) {
    return "ROUND_TRIP";
  }
  if (call.kind == LogCallKind::group_end) {
    return "GROUP_DRAINS";
  }
  if (frees(call.kind) && more && twin_->machine().group_open()) {
    return "GROUP_DEFERS";
  }
  return "AVAIL_EXACT";
}

void Lifter::check_count(const Count& count, const LogCall& call, std::optional<Tokens>& drift) {
  if (!count.recorded) {
    return;
  }
  const Tokens expected = count.due + drift.value_or(0);
  if (drift && *count.recorded != expected) {
    std::string_view meaning = meaning_of(call, *count.recorded > expected);
    if (meaning == "AVAIL_EXACT" && *count.recorded > count.size) {
      meaning = "AVAIL_LE_SIZE";
    }
    violation(meaning, fmt::format("the {} available size is wrong", count.name),
              fmt::format("{} of {} tokens", expected, count.size), fmt::format("{}", *count.recorded));
  }
  drift = *count.recorded - count.due;
}

void Lifter::check_counts(const LogCall& call) {
  const Gauges& due = twin_->gauges();
  if (doubt_full_) {
    full_drift_.reset();
  }
  if (doubt_swa_) {
    swa_drift_.reset();
  }
  check_count({"full", call.gauges.full, due.full_available, due.full_size}, call, full_drift_);
  if (geo_.sliding()) {
    check_count({"SWA", call.gauges.swa, due.swa_available, due.swa_size}, call, swa_drift_);
  }
}

void Lifter::report_raised(const LogCall& call, std::uint64_t faults_before) {
  const LogError& error = *call.error;
  const bool callers = findings_.count(LogFindingKind::caller_fault) > faults_before;
  std::string what = fmt::format("the engine raised {}{}{}", error.type.empty() ? "an error" : error.type,
                                 error.text.empty() ? "" : ": " + error.text,
                                 error.where.empty() ? "" : fmt::format(" ({})", error.where));
  if (callers) {
    note(what + ": the caller's fault above explains it");
    doubt();
    return;
  }
  violation("RAISED", std::move(what), {}, {});
}

}  // namespace poolproof
