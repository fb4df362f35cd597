#include "props/lockstep.hpp"

#include <algorithm>
#include <utility>

#include "impl/pool_memory.hpp"
#include "props/course.hpp"

namespace poolproof {

Lockstep::Lockstep(Machine& machine, Allocator& allocator)
    : machine_(machine), allocator_(&allocator), memory_(allocator.memory()) {}

Verdict Lockstep::failure_verdict(const std::string& doing) const {
  Verdict verdict;
  verdict.cause = ImplementationFailure{};
  if (std::optional<Breakdown> breakdown = allocator_->breakdown()) {
    verdict.cause = *std::move(breakdown);
  }
  verdict.op = plan_.op;
  verdict.what = doing + ": " + allocator_->failure();
  if (std::optional<Disagreement> disagreement = allocator_->disagreement()) {
    verdict.cause = Invariant::ranks_agree;
    verdict.what = std::move(disagreement->what);
    verdict.expected = std::move(disagreement->expected);
    verdict.seen = std::move(disagreement->seen);
  }
  return verdict;
}

std::optional<Verdict> Lockstep::start() {
  plan_.op = 0;
  if (allocator_->gauges(observation_.gauges) != Answer::served) {
    return failure_verdict("reading the counters");
  }
  std::optional<Verdict> verdict = machine_.begin(observation_.gauges);
  if (!verdict && memory_ != nullptr) {
    if (memory_->report(before_) != Answer::served) {
      return failure_verdict("looking at the memory");
    }
    verdict = machine_.begin_memory(before_);
  }
  return refine(std::move(verdict));
}

/// A wrong count is a symptom: the lists, where they can be seen, may show what broke first.
std::optional<Verdict> Lockstep::refine(std::optional<Verdict> verdict) {
  if (verdict && verdict->allocator_fault() && allocator_->census(census_) == Answer::served) {
    return machine_.explain(std::move(*verdict), census_);
  }
  return verdict;
}

std::optional<Verdict> Lockstep::step(const Op& op) {
  if (std::optional<Verdict> fault = machine_.admit(op, plan_)) {
    return fault;
  }
  observation_.locs = {};
  observation_.translations = {};
  observation_.before = nullptr;
  observation_.after = nullptr;
  observation_.answer = call_memory(op);
  if (observation_.answer == Answer::failed) {
    return failure_verdict("the call");
  }
  if (gather_translations() == Answer::failed) {
    return failure_verdict("translating locs");
  }
  if (allocator_->gauges(observation_.gauges) != Answer::served) {
    return failure_verdict("reading the counters");
  }
  return refine(machine_.observe(op, plan_, observation_));
}

std::optional<Verdict> Lockstep::census() {
  const Answer answer = allocator_->census(census_);
  if (answer == Answer::failed) {
    return failure_verdict("the census");
  }
  return answer == Answer::refused ? std::nullopt : machine_.census(census_);
}

namespace {

/// Makes the allocator call of one op.
class Caller {
 public:
  Caller(Allocator& allocator, PoolMemory* memory, const Plan& plan, Locs& locs, Locs& call_locs,
         std::vector<Segment>& segments, std::vector<Stamp>& full_stamps, std::vector<Stamp>& swa_stamps,
         Observation& seen)
      : allocator_(allocator),
        memory_(memory),
        plan_(plan),
        locs_(locs),
        call_locs_(call_locs),
        segments_(segments),
        full_stamps_(full_stamps),
        swa_stamps_(swa_stamps),
        seen_(seen) {}

  Answer operator()(const op::SlotTake&) { return allocator_.take_slot(seen_.slot); }
  Answer operator()(const op::SlotGive&) { return allocator_.give_slot(plan_.slot); }
  Answer operator()(const op::Alloc&) { return lent(allocator_.alloc(plan_.tokens, locs_)); }
  Answer operator()(const op::Extend&) {
    return lent(allocator_.alloc_extend(plan_.prefix_lens, plan_.seq_lens, plan_.last_locs, locs_));
  }
  Answer operator()(const op::Decode&) { return lent(allocator_.alloc_decode(plan_.seq_lens, plan_.last_locs, locs_)); }
  Answer operator()(const op::Tail& op) {
    return lent(allocator_.alloc_extend_swa_tail(plan_.prefix_lens[0], plan_.seq_lens[0], plan_.last_locs[0],
                                                 op.swa.size(), op.swa.end, locs_));
  }
  Answer operator()(const op::Free& op) {
    lend_indices();
    return taken_back(allocator_.free(op.side, call_locs_));
  }
  Answer operator()(const op::FreeSegment& op) {
    lend_indices();
    segments_.clear();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < plan_.segment_ends.size(); ++i) {
      const std::size_t end = plan_.segment_ends[i];
      segments_.push_back({std::span<const Loc>(call_locs_).subspan(begin, end - begin), plan_.segment_starts[i]});
      begin = end;
    }
    return taken_back(allocator_.free_segments(op.side, segments_));
  }
  Answer operator()(const op::Remap&) {
    lend_indices();
    Answer answer = taken_back(allocator_.set_full_to_swa_mapping(call_locs_, plan_.peers));
    if (answer == Answer::served && !plan_.donors.empty()) {
      answer = allocator_.clear_full_to_swa_mapping(plan_.donors);
    }
    return answer;
  }
  Answer operator()(const op::Unmap&) {
    lend_indices();
    return taken_back(allocator_.clear_full_to_swa_mapping(call_locs_));
  }
  Answer operator()(const op::Write&) {
    Answer answer = allocator_.write_full(plan_.locs, plan_.full_stamps);
    if (answer == Answer::served && !plan_.swa_stamps.empty()) {
      answer = allocator_.write_swa(plan_.locs, plan_.slot, plan_.first_pos, plan_.swa_stamps);
    }
    return answer;
  }
  Answer operator()(const op::Read&) {
    full_stamps_.resize(plan_.full_stamps.size());
    swa_stamps_.resize(plan_.swa_stamps.size());
    Answer answer = allocator_.read_full(plan_.locs, full_stamps_);
    if (answer == Answer::served && !plan_.swa_stamps.empty()) {
      answer = allocator_.read_swa(std::span<const Loc>(plan_.locs).subspan(plan_.swa_first), plan_.slot,
                                   plan_.first_pos + static_cast<Pos>(plan_.swa_first), swa_stamps_);
    }
    seen_.full_stamps = full_stamps_;
    seen_.swa_stamps = swa_stamps_;
    return answer;
  }
  Answer operator()(const op::GroupBegin&) { return allocator_.free_group_begin(); }
  Answer operator()(const op::GroupEnd&) { return allocator_.free_group_end(); }
  Answer operator()(const op::Backup& op) { return allocator_.backup_state(op.name); }
  Answer operator()(const op::Restore& op) { return allocator_.restore_state(op.name); }
  Answer operator()(const op::Clear&) { return allocator_.clear(); }
  Answer operator()(const op::Resize& op) { return allocator_.resize(op.full, op.swa); }
  // No call is made, so nothing can be refused.
  Answer operator()(const op::Copy&) { return Answer::served; }
  Answer operator()(const op::Drop&) { return Answer::served; }
  Answer operator()(const op::Trim&) { return Answer::served; }
  Answer operator()(const op::Expect&) { return Answer::served; }
  // Where nothing builds the pools' memory, these are the caller's alone.
  Answer operator()(const op::Pause& op) { return memory_ == nullptr ? unseen() : memory_->pause(op.tag); }
  Answer operator()(const op::Resume& op) { return memory_ == nullptr ? unseen() : memory_->resume(op.tag); }
  Answer operator()(const op::Destroy&) {
    return cleared([](PoolMemory& memory) { return memory.destroy(); });
  }
  Answer operator()(const op::Build&) {
    return cleared([](PoolMemory& memory) { return memory.build(); });
  }
  Answer operator()(const op::Flush&) {
    return cleared([](PoolMemory& memory) { return memory.flush(); });
  }

 private:
  [[nodiscard]] Answer unseen() const { return plan_.fits ? Answer::served : Answer::refused; }
  template <typename Then>
  Answer cleared(const Then& then) {
    const Answer answer = allocator_.clear();
    return answer == Answer::served && memory_ != nullptr ? then(*memory_) : answer;
  }
  Answer lent(Answer answer) {
    if (answer == Answer::served) {
      seen_.locs = locs_;
    }
    return answer;
  }
  void lend_indices() { call_locs_.assign(plan_.locs.begin(), plan_.locs.end()); }
  /// The index array is the caller's again: it is overwritten, so that an allocator which kept a view shows it.
  Answer taken_back(Answer answer) {
    std::fill(call_locs_.begin(), call_locs_.end(), Loc{0});
    return answer;
  }

  Allocator& allocator_;
  PoolMemory* memory_;
  const Plan& plan_;
  Locs& locs_;
  Locs& call_locs_;
  std::vector<Segment>& segments_;
  std::vector<Stamp>& full_stamps_;
  std::vector<Stamp>& swa_stamps_;
  Observation& seen_;
};

}  // namespace

namespace {

/// Ops around which the memory is looked at as a whole.
bool moves_memory(const Op& op) {
  switch (word_of(op)) {
    case OpWord::pause:
    case OpWord::resume:
    case OpWord::destroy:
    case OpWord::build:
      return true;
    default:
      return false;
  }
}

}  // namespace

Answer Lockstep::call_memory(const Op& op) {
  if (memory_ == nullptr || !moves_memory(op)) {
    return call(op);
  }
  const auto shown = [&](MemoryReport& report) { return memory_->report(report) == Answer::served; };
  if (!shown(before_)) {
    return Answer::failed;
  }
  const Answer answer = call(op);
  if (answer == Answer::failed || !shown(after_)) {
    return Answer::failed;
  }
  observation_.before = &before_;
  observation_.after = &after_;
  return answer;
}

Answer Lockstep::call(const Op& op) {
  return std::visit(
      Caller(*allocator_, memory_, plan_, locs_, call_locs_, segments_, full_stamps_, swa_stamps_, observation_), op);
}

Answer Lockstep::gather_translations() {
  if (!machine_.geometry().hybrid()) {
    return Answer::served;
  }
  const std::span<const Loc> probes =
      observation_.locs.empty() ? std::span<const Loc>(plan_.probes) : observation_.locs;
  if (probes.empty() || !translatable(probes)) {
    return Answer::served;
  }
  translations_.resize(probes.size());
  const Answer answer = allocator_->translate_loc_from_full_to_swa(probes, translations_);
  observation_.translations = translations_;
  return answer;
}

/// Locs outside of the mapping are not asked about: the machine rejects them before it looks at translations.
bool Lockstep::translatable(std::span<const Loc> locs) const {
  const Loc limit = machine_.full_size() + machine_.geometry().page;
  Loc outside = 0;
  for (const Loc loc : locs) {
    outside |= static_cast<Loc>(loc < 0) | static_cast<Loc>(loc >= limit);
  }
  return outside == 0;
}

// ---- whole traces

namespace {

/// The trace's ops one after the other, mended where that is asked for.
OpSource source_of(const Trace& trace, const ImplInfo& impl, bool repair) {
  return [&trace, &impl, repair, at = std::size_t{0}](Machine& machine) mutable -> std::optional<Op> {
    const auto taken = [&](const Op& op) { return !impl.takes || impl.takes(op, machine); };
    while (at < trace.ops.size()) {
      const Op& op = trace.ops[at++];
      if (!repair || (!op_fault(op, machine.geometry()) && machine.admits(op) && taken(op))) {
        return op;
      }
      if (std::optional<Op> mended = repair_op(op, machine); mended && taken(*mended)) {
        return mended;
      }
    }
    return std::nullopt;
  };
}

/// A breakdown that did not come back says nothing about the allocator.
RunResult passing(RunResult again, const Verdict& first) {
  Verdict verdict;
  verdict.cause = ImplementationFailure{};
  verdict.op = first.op;
  verdict.what = first.what + " (in an exchange of many calls; when the trace was run again call by call, it held)";
  again.verdict = std::move(verdict);
  return again;
}

}  // namespace

RunResult run_trace(const Trace& trace, const ImplInfo& impl, const RunOptions& options) {
  RunResult result;
  auto built = impl.make(trace.geometry);
  if (!built) {
    result.build_error = built.error();
    return result;
  }
  Machine machine(trace.geometry);
  OpFeed feed(machine, **built, options, source_of(trace, impl, options.repair));
  Course course(machine, **built, options.census_every, options.census_from);
  feed.prepare();
  result.verdict = course.start();
  while (!result.verdict) {
    std::optional<Op> op = feed.next();
    if (!op) {
      result.verdict = course.finish();
      break;
    }
    if (options.repair) {
      result.free = {machine.full_free_pages(), machine.swa_free_pages()};
    }
    result.verdict = course.step(*op);
    if (options.repair) {
      result.executed.push_back(*std::move(op));
    }
  }
  result.ops = course.ops();
  if (result.verdict && lost_in_exchange(*result.verdict, feed.scouted())) {
    RunOptions single = options;
    single.call_by_call = true;
    RunResult again = run_trace(trace, impl, single);
    return again.verdict || !again.build_error.empty() ? again : passing(std::move(again), *result.verdict);
  }
  return result;
}

RunResult run_and_pin(const Trace& trace, const ImplInfo& impl) {
  std::uint32_t every = 1;
  for (std::size_t censuses = trace.ops.size(); censuses > long_trace_ops; censuses /= rare_census) {
    every *= rare_census;
  }
  RunResult found = run_trace(trace, impl, {.census_every = every});
  while (found.verdict && found.ops > 0 && every > 1) {
    const std::uint64_t from = found.ops - std::min<std::uint64_t>(found.ops, std::uint64_t{2} * every);
    every /= rare_census;
    RunResult finer = run_trace(trace, impl, {.census_every = every, .census_from = from});
    if (!finer.verdict) {
      break;
    }
    found = std::move(finer);
  }
  return found;
}

}  // namespace poolproof
