#include "props/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "impl/ranks.hpp"
#include "props/choices.hpp"
#include "props/course.hpp"
#include "props/guide.hpp"

namespace poolproof {
namespace {

/// The canary must be caught within so many traces.
constexpr std::uint64_t canary_traces = 200;
/// Rounds of all geometries without one that the implementation supports, until it counts as supporting none.
constexpr std::uint64_t barren_rounds = 16;
/// Breakdowns that do not come back, until an implementation counts as one that cannot be run.
constexpr std::size_t most_incidents = 5;
/// Where the guide's own draws come from, beside those of the traces.
constexpr std::uint64_t guide_stream = std::uint64_t{1} << 63U;

/// Those asked for, or all that are named for implementations of its kind.
const std::vector<NamedGeometry>& geometries_of(const CampaignOptions& options, bool memory) {
  if (!options.geometries.empty()) {
    return options.geometries;
  }
  return memory ? memory_geometries() : named_geometries();
}

/// The geometry of one trace; the first draws of its choices.
Geometry trace_geometry(const CampaignOptions& options, bool memory, std::uint64_t index, Choices& choices) {
  const std::vector<NamedGeometry>& geometries = geometries_of(options, memory);
  const Geometry& base = geometries[index % geometries.size()].geometry;
  return options.vary ? vary_geometry(base, choices) : base;
}

/// How one trace ended.
struct TraceRun {
  Trace trace;  ///< ops so far; where an exchange of many calls broke down, all that were foretold
  std::optional<Verdict> verdict;
  std::string build_error;
  bool lost = false;  ///< the verdict's op is not known
};

void forbid_all_but(Generator& generator, const OpWords& offered) {
  for (std::size_t i = 0; i < op_word_count; ++i) {
    if (!offered.test(i)) {
      generator.forbid(static_cast<OpWord>(i));
    }
  }
}

/// One implementation's part of the campaign.
class ImplRun {
 public:
  ImplRun(const CampaignOptions& options, const ImplInfo& impl, Machine& machine)
      : options_(options), impl_(with_ranks(impl, options.ranks)), machine_(machine) {
    outcome_.impl = impl_.name;
    outcome_.ranks = impl_.ranks;
    if (options.guided) {
      guide_.emplace();
    }
  }

  /// True when `stop` ended it.
  bool run(std::uint64_t traces);
  ImplOutcome take() { return std::move(outcome_); }
  [[nodiscard]] const std::optional<Verdict>& first_verdict() const { return first_verdict_; }
  [[nodiscard]] std::uint64_t last_index() const { return last_index_; }
  void shrink_findings(bool on) { shrink_ = on; }

 private:
  [[nodiscard]] bool over() const { return outcome_.finding || first_verdict_ || !outcome_.could_not_run.empty(); }
  [[nodiscard]] bool supported(std::uint64_t index) const;
  void run_index(std::uint64_t index);
  TraceRun run_one(std::uint64_t index);
  Lead lead_of(std::uint64_t index);
  OpSource source_of(Generator& generator) const;
  void drive(Course& course, OpFeed& feed, TraceRun& run, const ResumedChoices& choices);
  std::optional<Verdict> step(Course& course, const Op& op, const ResumedChoices& choices);
  void find_again(TraceRun& run) const;
  void judge(std::uint64_t index, TraceRun run);
  void note_incident(const std::string& what);
  void find(std::uint64_t index, TraceRun run);
  void report_progress() const;

  const CampaignOptions& options_;
  const ImplInfo impl_;  ///< with its replicas
  Machine& machine_;
  ImplOutcome outcome_;
  std::optional<Verdict> first_verdict_;
  std::uint64_t last_index_ = 0;
  std::uint64_t total_ = 0;
  bool shrink_ = true;
  std::optional<Guide> guide_;  ///< none: unguided
};

bool ImplRun::supported(std::uint64_t index) const {
  RandomChoices choices(options_.seed, index);
  return impl_.supports(trace_geometry(options_, impl_.memory, index, choices));
}

bool ImplRun::run(std::uint64_t traces) {
  const std::uint64_t barren_limit = barren_rounds * geometries_of(options_, impl_.memory).size();
  std::uint64_t counted = 0;
  std::uint64_t barren = 0;
  total_ = traces;
  report_progress();
  for (std::uint64_t index = 0; !over() && (traces == 0 || counted < traces); ++index) {
    if (options_.stop && options_.stop()) {
      return true;
    }
    const bool ours = index % options_.shard_count == options_.shard_index;
    if (!supported(index)) {
      outcome_.skipped += ours ? 1 : 0;
      if (++barren == barren_limit) {
        outcome_.could_not_run = fmt::format("{} supports none of these geometries", impl_.name);
      }
      continue;
    }
    barren = 0;
    ++counted;
    if (ours) {
      run_index(index);
    }
  }
  return false;
}

void ImplRun::run_index(std::uint64_t index) {
  last_index_ = index;
  TraceRun run = run_one(index);
  ++outcome_.traces;
  report_progress();
  judge(index, std::move(run));
}

Lead ImplRun::lead_of(std::uint64_t index) {
  RandomChoices choices(options_.seed, index + guide_stream);
  return guide_ ? guide_->lead(index, choices) : Lead{index, {}};
}

TraceRun ImplRun::run_one(std::uint64_t index) {
  const Lead lead = lead_of(index);
  RandomChoices random(options_.seed, index);
  ResumedChoices choices(lead.tape, random);
  TraceRun run;
  run.trace.geometry = trace_geometry(options_, impl_.memory, lead.index, choices);
  Result<std::unique_ptr<Allocator>, std::string> allocator = impl_.make(run.trace.geometry);
  if (!allocator) {
    run.build_error = allocator.error();
    return run;
  }
  const Geometry& geometry = run.trace.geometry;
  machine_.reset(geometry);
  const OpWords offered = impl_.offers ? impl_.offers(geometry) : OpWords().set();
  outcome_.coverage.new_trace(geometry, offered);
  Generator generator(geometry, choices);
  forbid_all_but(generator, offered);
  generator.restrict_to(impl_.takes);
  RunOptions run_options;
  run_options.census_every = options_.census_every;
  OpFeed feed(machine_, **allocator, run_options, source_of(generator));
  Course course(machine_, **allocator, options_.census_every);
  if (guide_) {
    guide_->begin(machine_);
  }
  drive(course, feed, run, choices);
  if (guide_) {
    guide_->end(lead.index, choices.drawn());
  }
  if (run.lost) {
    find_again(run);
  }
  return run;
}

OpSource ImplRun::source_of(Generator& generator) const {
  return [&generator, left = options_.ops](Machine& machine) mutable -> std::optional<Op> {
    if (left == 0) {
      return std::nullopt;
    }
    --left;
    return generator.next(machine);
  };
}

void ImplRun::drive(Course& course, OpFeed& feed, TraceRun& run, const ResumedChoices& choices) {
  feed.prepare();
  run.verdict = course.start();
  while (!run.verdict) {
    const bool over = guide_ && guide_->bored();
    std::optional<Op> op = over ? std::nullopt : feed.next();
    if (!op) {
      run.verdict = course.finish();
      break;
    }
    run.verdict = step(course, *op, choices);
    run.trace.ops.push_back(*std::move(op));
  }
  if (run.verdict && lost_in_exchange(*run.verdict, feed.scouted())) {
    run.lost = true;
    for (Op& op : feed.planned()) {
      run.trace.ops.push_back(std::move(op));
    }
  }
}

std::optional<Verdict> ImplRun::step(Course& course, const Op& op, const ResumedChoices& choices) {
  outcome_.coverage.before(op, machine_);
  std::optional<Verdict> verdict = course.step(op);
  if (!verdict) {
    outcome_.coverage.after(op, machine_, course.last_refused());
    if (guide_) {
      guide_->after(op, machine_, course.last_refused(), choices.drawn().size());
    }
  }
  ++outcome_.ops;
  return verdict;
}

/// Runs the foretold ops call by call: the breakdown comes back at the op that is to blame, or it does not.
void ImplRun::find_again(TraceRun& run) const {
  RunResult again = run_trace(run.trace, impl_, {.census_every = options_.census_every, .call_by_call = true});
  run.lost = !again.verdict;
  if (again.verdict) {
    run.verdict = std::move(again.verdict);
    run.trace.ops.resize(std::min<std::size_t>(run.trace.ops.size(), run.verdict->op));
  }
}

void ImplRun::judge(std::uint64_t index, TraceRun run) {
  const auto place = [&] { return fmt::format("trace {} of seed {}", index, options_.seed); };
  if (!run.build_error.empty()) {
    outcome_.could_not_run = fmt::format("cannot be built for {}: {}", to_string(run.trace.geometry), run.build_error);
    return;
  }
  if (!run.verdict) {
    return;
  }
  const Verdict& verdict = *run.verdict;
  if (run.lost) {
    note_incident(fmt::format("{}: {}", place(), verdict.what));
  } else if (verdict.allocator_fault()) {
    first_verdict_ = verdict;
    if (shrink_) {
      find(index, std::move(run));
    }
  } else if (std::holds_alternative<ImplementationFailure>(verdict.cause)) {
    outcome_.could_not_run = fmt::format("{}, op {}: {}", place(), verdict.op, verdict.what);
  } else {
    outcome_.could_not_run = fmt::format(
        "internal error: {} breaks {} at op {}, and a generated trace never may: {} This is a fault of "
        "poolproof, not of {}",
        place(), cause_id(verdict.cause), verdict.op, verdict.what, impl_.name);
  }
}

/// It says nothing about the allocator, so the campaign goes on; too many of them, and nothing can be said at all.
void ImplRun::note_incident(const std::string& what) {
  outcome_.incidents.push_back(what);
  if (outcome_.incidents.size() == most_incidents) {
    outcome_.could_not_run = fmt::format("it broke down {} times, and not again when the traces were run call by call",
                                         outcome_.incidents.size());
  }
}

void ImplRun::find(std::uint64_t index, TraceRun run) {
  Finding finding;
  finding.impl = impl_.name;
  finding.ranks = impl_.ranks;
  finding.trace_index = index;
  RunResult again = run_and_pin(run.trace, impl_);
  finding.reproduced = again.verdict && again.verdict->allocator_fault();
  finding.original_verdict = finding.reproduced ? *std::move(again.verdict) : *std::move(run.verdict);
  run.trace.ops.resize(std::min<std::size_t>(run.trace.ops.size(), finding.original_verdict.op));
  finding.original = std::move(run.trace);
  std::optional<ShrinkResult> shrunk;
  if (finding.reproduced) {
    shrunk = shrink(finding.original, impl_, finding.original_verdict.cause, options_.shrink);
  }
  finding.reproduced = shrunk.has_value();
  finding.shrunk = shrunk ? *std::move(shrunk) : ShrinkResult{finding.original, finding.original_verdict, 0, false};
  outcome_.finding = std::move(finding);
}

void ImplRun::report_progress() const {
  if (options_.progress) {
    options_.progress({impl_.name, outcome_.traces, total_ / options_.shard_count, outcome_.ops});
  }
}

const ImplInfo* builtin_canary() {
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::canary) {
      return &impl;
    }
  }
  return nullptr;
}

/// Runs the canary on the traces that the campaign begins with.
void run_canary(const CampaignOptions& options, Machine& machine, CampaignReport& report) {
  const ImplInfo* canary = options.canary != nullptr ? options.canary : builtin_canary();
  if (canary == nullptr) {
    report.canary_says = "there is no canary";
    return;
  }
  CampaignOptions own = options;
  own.shard_index = 0;
  own.shard_count = 1;
  own.guided = false;
  own.stop = nullptr;
  own.progress = nullptr;
  // It shows that the harness sees; where the geometries asked for are not its own, it does so on those that are.
  std::erase_if(own.geometries, [&](const NamedGeometry& named) { return !canary->supports(named.geometry); });
  ImplRun run(own, *canary, machine);
  run.shrink_findings(false);
  run.run(canary_traces);
  const ImplOutcome outcome = run.take();
  report.canary_caught = run.first_verdict().has_value();
  if (report.canary_caught) {
    report.canary_says = fmt::format("caught by {} in trace {}, op {}", cause_id(run.first_verdict()->cause),
                                     run.last_index(), run.first_verdict()->op);
  } else if (!outcome.could_not_run.empty()) {
    report.canary_says = outcome.could_not_run;
  } else {
    report.canary_says =
        fmt::format("a planted fault was not seen in {} traces of {} ops", outcome.traces, options.ops);
  }
}

}  // namespace

CampaignReport run_campaign(const CampaignOptions& options) {
  CampaignReport report;
  report.seed = options.seed;
  Machine machine(geometries_of(options, false).front().geometry);
  run_canary(options, machine, report);
  if (!report.canary_caught) {
    return report;
  }
  for (const ImplInfo* impl : options.impls) {
    ImplRun run(options, *impl, machine);
    report.stopped = run.run(options.traces) || report.stopped;
    report.outcomes.push_back(run.take());
  }
  return report;
}

Trace campaign_trace(const CampaignOptions& options, std::uint64_t trace_index) {
  RandomChoices choices(options.seed, trace_index);
  const bool memory = !options.impls.empty() && options.impls.front()->memory;
  const Geometry geometry = trace_geometry(options, memory, trace_index, choices);
  return generate(geometry, choices, options.ops);
}

}  // namespace poolproof
