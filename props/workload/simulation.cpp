#include "props/workload/simulation.hpp"

#include <utility>

#include "props/course.hpp"

namespace poolproof {
namespace {

/// Ops between two looks at the clock and at `stop`.
constexpr std::uint64_t ops_between_looks = 4096;
/// Lists of more pages are not read for the picture's sake.
constexpr std::int64_t most_listed_pages = 1 << 16;

StagedLookup staged_of(const Geometry& g, Allocator& allocator) {
  if (!g.need_sort || g.full_pages() + g.swa_pages() > most_listed_pages) {
    return {};
  }
  return [&allocator, census = Census()]() mutable -> std::optional<StagedPages> {
    if (allocator.foresight() != nullptr || allocator.census(census) != Answer::served) {
      return std::nullopt;
    }
    return StagedPages{static_cast<std::int64_t>(census.full.staged.size()),
                       static_cast<std::int64_t>(census.swa.staged.size())};
  };
}

/// One run: the scheduler in front, the course behind it.
class SimulationRun {
 public:
  SimulationRun(const SimulationOptions& options, Allocator& allocator, RequestSource requests)
      : options_(options),
        result_{{},    {}, {},
                false, 0,  0,
                0,     {}, PoolTimeline(options.serving.geometry, staged_of(options.serving.geometry, allocator)),
                {}},
        serving_(options.serving, std::move(requests), listener()),
        machine_(options.serving.geometry),
        feed_(machine_, allocator, {.census_every = options.census_every, .call_by_call = options.call_by_call},
              [this](Machine& machine) { return next(machine); }),
        course_(machine_, allocator, options.census_every) {}

  SimulationResult run() {
    feed_.prepare();
    result_.verdict = course_.start();
    bool over = false;
    while (!result_.verdict && !stopped()) {
      const std::optional<Op> op = feed_.next();
      if (!op) {
        over = !serving_.error();
        result_.verdict = over ? course_.finish() : std::nullopt;
        break;
      }
      if (options_.record) {
        options_.record(*op);
      }
      result_.verdict = course_.step(*op);
    }
    result_.ops = course_.ops();
    result_.censuses = (options_.census_every == 0 ? 0 : result_.ops / options_.census_every) + (over ? 1 : 0);
    result_.input_error = serving_.error();
    result_.counts = serving_.counts();
    result_.end_us = serving_.now_us();
    result_.timeline.finish(result_.end_us);
    return std::move(result_);
  }
  [[nodiscard]] bool scouted() const { return feed_.scouted(); }

 private:
  ServingListener listener() {
    return {[this](const ServingMoment& moment, const Machine& machine) { result_.timeline.step(moment, machine); },
            [this](ServingEvent event) {
              if (result_.events.size() < most_events) {
                result_.events.push_back(std::move(event));
              }
            }};
  }

  std::optional<Op> next(Machine& machine) {
    std::optional<Op> op = serving_.next(machine);
    if (op && std::holds_alternative<op::GroupEnd>(*op)) {
      result_.timeline.group_end(machine);
    }
    return op;
  }

  bool stopped() {
    const std::uint64_t ops = course_.ops();
    if (options_.most_ops != 0 && ops == options_.most_ops) {
      result_.stopped = true;
    } else if (ops % ops_between_looks == 0) {
      if (options_.progress) {
        options_.progress({ops, serving_.now_us(), serving_.counts()});
      }
      result_.stopped = options_.stop && options_.stop();
    }
    return result_.stopped;
  }

  const SimulationOptions& options_;
  SimulationResult result_;
  Serving serving_;
  Machine machine_;
  OpFeed feed_;
  Course course_;
};

}  // namespace

SimulationResult simulate(const SimulationOptions& options, const ImplInfo& impl, RequestSource requests) {
  auto built = impl.make(options.serving.geometry);
  if (!built) {
    SimulationResult result{{}, {}, built.error(), false, 0, 0, 0, {}, PoolTimeline(options.serving.geometry, {}), {}};
    return result;
  }
  SimulationRun run(options, **built, std::move(requests));
  return run.run();
}

Trace simulated_trace(const ServingOptions& options, RequestSource requests, std::uint64_t ops) {
  Trace trace{options.geometry, {}, {}};
  if (ops > 0) {
    SimulationOptions recorded;
    recorded.serving = options;
    recorded.census_every = 0;
    recorded.most_ops = ops;
    recorded.record = [&](const Op& op) { trace.ops.push_back(op); };
    simulate(recorded, host_impl_for(options.geometry), std::move(requests));
  }
  return trace;
}

}  // namespace poolproof
