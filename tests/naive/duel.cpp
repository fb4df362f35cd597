#include "tests/naive/duel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace poolproof::naive {
namespace {

std::string text(const std::set<Rule>& rules) {
  std::string out;
  for (const Rule rule : rules) {
    out += std::string(out.empty() ? "" : " ") + std::string(rule_info(rule).id);
  }
  return out.empty() ? "none" : out;
}

std::string text(const std::optional<Verdict>& verdict) {
  if (!verdict) {
    return "nothing";
  }
  return fmt::format("{} at op {} (other {}): {}; expected {}; seen {}", cause_id(verdict->cause), verdict->op,
                     verdict->other_op, verdict->what, verdict->expected, verdict->seen);
}

std::unique_ptr<Recorder> build(const ImplInfo& impl, const Geometry& geometry) {
  return std::make_unique<Recorder>(std::move(impl.make(geometry)).value());
}

/// Says so when two answers to one question differ.
template <typename A, typename B>
void differ(std::string& out, const std::string& question, const A& machine, const B& naive) {
  if (out.empty() && machine != naive) {
    out = fmt::format("{}: the machine says {}, the naive model {}", question, machine, naive);
  }
}

}  // namespace

Duel::Duel(const ImplInfo& impl, const Geometry& geometry)
    : g_(geometry), machine_(geometry), model_(geometry), recorder_(build(impl, geometry)) {}

Duel::Duel(const Duel& other)
    : g_(other.g_), machine_(other.machine_), model_(other.model_), recorder_(other.recorder_->copy()) {}

Duel& Duel::operator=(const Duel& other) {
  if (this != &other) {
    g_ = other.g_;
    machine_ = other.machine_;
    model_ = other.model_;
    recorder_ = other.recorder_->copy();
  }
  return *this;
}

Round Duel::start() {
  Round round;
  round.verdict = Lockstep(machine_, *recorder_).start();
  std::string complaint = model_.compare(recorder_->last_gauges());
  if (complaint.empty() && !recorder_->reports().empty()) {
    complaint = model_.check_built(recorder_->reports().back());
  }
  if (round.verdict.has_value() == complaint.empty()) {
    round.disagreement = fmt::format("start: machine {}, naive {}", text(round.verdict), complaint);
  }
  return round;
}

std::optional<Round> Duel::turn_away(const Op& op) {
  if (machine_.admits(op)) {
    return std::nullopt;
  }
  Round round;
  round.verdict = machine_.admit(op, plan_);
  round.disagreement =
      round.verdict ? compare_caller(round.verdict, model_.faults(op)) : "admits() turns the op away, admit() does not";
  return round;
}

std::string Duel::compare_caller(const std::optional<Verdict>& verdict, const std::set<Rule>& rules) const {
  const Rule* rule = verdict ? std::get_if<Rule>(&verdict->cause) : nullptr;
  const bool same = rule == nullptr ? rules.empty() : rules.contains(*rule);
  return same ? std::string{} : fmt::format("rules broken: machine {}, naive {}", text(verdict), text(rules));
}

Round Duel::step(const Op& op) {
  const std::set<Rule> rules = model_.faults(op);
  const bool admitted = machine_.admits(op);
  recorder_->forget();
  Lockstep lockstep(machine_, *recorder_);
  Round round;
  round.verdict = lockstep.step(op);
  const bool caller = round.verdict && round.verdict->caller_fault();
  round.disagreement = compare_caller(caller ? round.verdict : std::nullopt, rules);
  differ(round.disagreement, "admits()", admitted, !caller);
  if (caller || !round.disagreement.empty()) {
    if (caller && !recorder_->calls().empty()) {
      round.disagreement = "a call was made for an op that breaks the protocol";
    }
    return round;
  }
  const Complaint complaint = model_.apply(op, recorder_->calls(), recorder_->reports(), recorder_->last_gauges());
  if (!complaint.harness.empty()) {
    round.disagreement = "calls: " + complaint.harness;
    return round;
  }
  std::string fault = complaint.allocator;
  if (!round.verdict) {
    round.verdict = lockstep.census();
  }
  Census census;
  if (fault.empty() && recorder_->census(census) == Answer::served) {
    fault = model_.scan(census);
  }
  if (round.verdict.has_value() == fault.empty()) {
    round.disagreement = fmt::format("allocator: machine {}, naive {}", text(round.verdict), fault);
  }
  if (round.disagreement.empty() && !round.verdict) {
    if (may_not_fit(op)) {
      differ(round.disagreement, "last_refused", machine_.last_refused(), lockstep.last_refused());
    }
    round.disagreement += compare_state();
  }
  return round;
}

std::string Duel::compare_state() const {
  std::string out;
  differ(out, "full free pages", machine_.full_free_pages(), std::ssize(model_.full_pool().free));
  differ(out, "full deferred pages", machine_.full_deferred_pages(), std::ssize(model_.full_pool().deferred));
  if (g_.paired()) {
    differ(out, "SWA free pages", machine_.swa_free_pages(), std::ssize(model_.swa_pool().free));
    differ(out, "SWA deferred pages", machine_.swa_deferred_pages(), std::ssize(model_.swa_pool().deferred));
  }
  differ(out, "full size", machine_.full_size(), model_.gauges().full_size);
  differ(out, "free request slots", machine_.slots_free(), model_.slots_free());
  differ(out, "group open", machine_.group_open(), model_.group_open());
  for (std::uint32_t name = 0; name < 3; ++name) {
    differ(out, fmt::format("has backup b{}", name), machine_.has_backup(name), model_.has_backup(name));
  }
  Row rows = machine_.row_limit();
  if (!model_.rows().empty()) {
    rows = std::max(rows, model_.rows().rbegin()->first + 1);
  }
  for (Row row = 0; row < rows && out.empty(); ++row) {
    out = compare_row(row);
  }
  return out;
}

std::string Duel::compare_row(Row row) const {
  std::string out;
  const auto found = model_.rows().find(row);
  const RowState naive = found == model_.rows().end() ? RowState{} : found->second;
  differ(out, fmt::format("length of r{}", row), machine_.row_length(row), std::ssize(naive.held));
  differ(out, fmt::format("slot of r{}", row), machine_.row_has_slot(row), naive.slot.has_value());
  for (Pos p = 0; p < std::ssize(naive.held) && out.empty(); ++p) {
    out = compare_token(row, p);
  }
  return out;
}

std::string Duel::compare_token(Row row, Pos position) const {
  std::string out;
  const auto held = model_.loc_of(row, position);
  const auto question = [&](const char* what) { return fmt::format("{} of r{} position {}", what, row, position); };
  differ(out, question("liveness"), machine_.row_live(row, position), held.has_value());
  if (held && out.empty()) {
    differ(out, question("holders"), machine_.row_holders(row, position), model_.holders(*held / g_.page));
    if (g_.paired()) {
      differ(out, question("live peer"), machine_.row_peer_live(row, position), model_.peer(*held) != 0);
    }
  }
  return out;
}

}  // namespace poolproof::naive
