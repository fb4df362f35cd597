#include "props/zoo/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "impl/ranks.hpp"
#include "props/campaign.hpp"
#include "props/workload/simulation.hpp"
#include "props/workload/synthetic.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, zoo_engine_count> engine_names = {"check", "simulate", "corpus", "explorer"};

/// A simulated engine is given up after so many ops: by then it has served everything many times over.
constexpr std::uint64_t most_simulated_ops = 150'000;
constexpr std::uint32_t simulated_census_every = 1024;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

/// One run that caught it.
struct Sight {
  std::string cause;
  std::uint64_t ops = 0;
  double seconds = 0;
  std::size_t shrunk_ops = 0;
};

template <typename Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Member>
auto median_of(const std::vector<Sight>& sights, Member member) {
  std::vector<std::remove_cvref_t<decltype(sights.front().*member)>> values;
  values.reserve(sights.size());
  for (const Sight& sight : sights) {
    values.push_back(sight.*member);
  }
  return median(std::move(values));
}

bool said_to_break(const ImplInfo& impl, const Cause& cause) {
  const auto* invariant = std::get_if<Invariant>(&cause);
  return invariant != nullptr &&
         std::find(impl.caught_by.begin(), impl.caught_by.end(), *invariant) != impl.caught_by.end();
}

/// Pools of the field's kinds, small enough that they run short.
std::vector<Geometry> simulated_pools() {
  Geometry paged;
  paged.layout = Layout::paged;
  paged.page = 16;
  paged.full = 256 * paged.page;
  paged.reqs = 24;
  Geometry hybrid = paged;
  hybrid.layout = Layout::hybrid;
  hybrid.swa = 96 * hybrid.page;
  hybrid.window = 64;
  Geometry ring = hybrid;
  ring.ring = 72;
  Geometry token = paged;
  token.layout = Layout::token;
  token.page = 1;
  token.full = 4096;
  Geometry pure = token;
  pure.layout = Layout::pure_swa;
  pure.window = 64;
  Geometry single = hybrid;
  single.page = 1;
  single.full = 4096;
  single.swa = 1536;
  return {hybrid, ring, paged, single, token, pure};
}

class Keeper {
 public:
  explicit Keeper(const ZooOptions& options) : options_(options), simulated_(simulated_pools()) {}

  ZooRow row_of(const ImplInfo& impl) const {
    ZooRow row;
    row.impl = &impl;
    for (const ZooEngine engine : options_.engines) {
      switch (engine) {
        case ZooEngine::check:
          by_seeds(row, engine, [&](std::uint64_t seed) { return check(row, seed); });
          break;
        case ZooEngine::simulate:
          by_seeds(row, engine, [&](std::uint64_t seed) { return simulate_on(row, seed); });
          break;
        case ZooEngine::corpus:
          replay(row);
          break;
        case ZooEngine::explorer:
          explore(row);
          break;
      }
    }
    return row;
  }

 private:
  struct Outcome {
    bool ran = false;
    std::optional<Sight> sight;
  };

  template <typename RunSeed>
  void by_seeds(ZooRow& row, ZooEngine engine, const RunSeed& run) const {
    ZooCell& cell = row.cells.at(static_cast<std::size_t>(engine));
    std::vector<Sight> sights;
    for (std::uint64_t seed = 1; seed <= options_.seeds && !stopped(); ++seed) {
      const Outcome outcome = run(seed);
      cell.runs += outcome.ran ? 1 : 0;
      if (outcome.sight) {
        sights.push_back(*outcome.sight);
      }
    }
    fill(cell, sights);
    if (engine == ZooEngine::check && !sights.empty()) {
      row.shrunk_ops = median_of(sights, &Sight::shrunk_ops);
    }
  }

  static void fill(ZooCell& cell, const std::vector<Sight>& sights) {
    cell.caught = static_cast<std::uint32_t>(sights.size());
    if (!sights.empty()) {
      cell.cause = sights.front().cause;
      cell.ops = median_of(sights, &Sight::ops);
      cell.seconds = median_of(sights, &Sight::seconds);
    }
  }

  [[nodiscard]] bool stopped() const { return options_.stop && options_.stop(); }

  void note(ZooRow& row, const Verdict& verdict, ZooEngine engine, const std::string& where) const {
    if (!said_to_break(*row.impl, verdict.cause)) {
      row.unexpected.push_back(fmt::format("{} ({}, {})", cause_id(verdict.cause), zoo_engine_name(engine), where));
    }
  }

  Outcome check(ZooRow& row, std::uint64_t seed) const {
    CampaignOptions campaign;
    campaign.impls = {row.impl};
    campaign.traces = options_.traces;
    campaign.seed = seed;
    campaign.stop = options_.stop;
    auto begun = Clock::now();
    double seconds = 0;
    // Called when the implementation begins, and after each trace: what is shrunk afterwards is not counted.
    campaign.progress = [&](const CampaignProgress& now) {
      if (now.traces_done == 0) {
        begun = Clock::now();
      }
      seconds = seconds_since(begun);
    };
    const CampaignReport report = run_campaign(campaign);
    if (report.outcomes.empty()) {
      return {};
    }
    const ImplOutcome& outcome = report.outcomes.front();
    if (!outcome.finding) {
      return {outcome.traces > 0, std::nullopt};
    }
    const ShrinkResult& shrunk = outcome.finding->shrunk;
    note(row, shrunk.verdict, ZooEngine::check, fmt::format("seed {}", seed));
    return {true, Sight{std::string(cause_id(shrunk.verdict.cause)), outcome.ops, seconds, shrunk.trace.ops.size()}};
  }

  /// The pools one after the other, until one of them shows it.
  Outcome simulate_on(ZooRow& row, std::uint64_t seed) const {
    Outcome outcome;
    std::uint64_t ops = 0;
    const auto begun = Clock::now();
    for (Geometry pool : simulated_) {
      pool.need_sort = seed % 2 == 0;
      if (!row.impl->supports(pool) || stopped()) {
        continue;
      }
      outcome.ran = true;
      const SimulationResult result = simulate_one(with_ranks(*row.impl, 1), pool, seed);
      ops += result.ops;
      if (result.verdict && result.verdict->allocator_fault()) {
        outcome.sight = Sight{std::string(cause_id(result.verdict->cause)), ops, seconds_since(begun), 0};
        break;
      }
    }
    return outcome;
  }

  static SimulationResult simulate_one(const ImplInfo& impl, const Geometry& pool, std::uint64_t seed) {
    SyntheticWorkload workload;
    workload.requests = 120;
    workload.gap_us = 20'000;
    workload.input_tokens = 200;
    workload.output_tokens = 60;
    workload.longest_tokens = 2000;
    workload.shared_percent = 50;
    workload.families = 3;
    workload.prefix_tokens = 96;
    SimulationOptions options;
    options.serving.geometry = pool;
    options.serving.seed = seed;
    RandomChoices choices(seed, 0);
    options.serving = draw_serving(options.serving, choices);
    options.census_every = simulated_census_every;
    options.most_ops = most_simulated_ops;
    return simulate(options, impl, synthetic_requests(workload, seed));
  }

  void replay(ZooRow& row) const {
    ZooCell& cell = row.cells.at(static_cast<std::size_t>(ZooEngine::corpus));
    std::vector<Sight> sights;
    for (const ZooTrace& kept : options_.corpus) {
      if (kept.mutant != row.impl->name || stopped()) {
        continue;
      }
      ++cell.runs;
      const auto begun = Clock::now();
      const RunResult run = run_and_pin(kept.trace, with_ranks(*row.impl, 1));
      if (run.verdict && run.verdict->allocator_fault()) {
        note(row, *run.verdict, ZooEngine::corpus, kept.name);
        sights.push_back({std::string(cause_id(run.verdict->cause)), run.ops, seconds_since(begun), 0});
      }
    }
    fill(cell, sights);
  }

  void explore(ZooRow& row) const {
    if (!options_.shortest || stopped()) {
      return;
    }
    const auto begun = Clock::now();
    const ZooShortest shortest = options_.shortest(*row.impl);
    ZooCell& cell = row.cells.at(static_cast<std::size_t>(ZooEngine::explorer));
    cell.runs = shortest.scopes > 0 ? 1 : 0;
    if (shortest.verdict) {
      note(row, *shortest.verdict, ZooEngine::explorer, "the shortest trace");
      fill(cell, {{std::string(cause_id(shortest.verdict->cause)), shortest.ops, seconds_since(begun), 0}});
    }
  }

  const ZooOptions& options_;
  std::vector<Geometry> simulated_;
};

}  // namespace

std::string_view zoo_engine_name(ZooEngine engine) { return engine_names.at(static_cast<std::size_t>(engine)); }

std::optional<ZooEngine> zoo_engine_from(std::string_view name) {
  const auto found = std::find(engine_names.begin(), engine_names.end(), name);
  return found == engine_names.end() ? std::nullopt
                                     : std::optional(static_cast<ZooEngine>(found - engine_names.begin()));
}

bool ZooRow::caught() const {
  return std::any_of(cells.begin(), cells.end(), [](const ZooCell& cell) { return cell.caught > 0; });
}

std::optional<std::int64_t> ZooRow::above_optimum() const {
  const ZooCell& shortest = cell(ZooEngine::explorer);
  if (shortest.caught == 0 || cell(ZooEngine::check).caught == 0) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(shrunk_ops) - static_cast<std::int64_t>(shortest.ops);
}

std::vector<ZooRow> run_zoo(const ZooOptions& options) {
  const Keeper keeper(options);
  std::vector<ZooRow> rows;
  for (const ImplInfo* impl : options.impls) {
    if (options.stop && options.stop()) {
      break;
    }
    if (options.progress) {
      options.progress(impl->name, rows.size(), options.impls.size());
    }
    rows.push_back(keeper.row_of(*impl));
  }
  return rows;
}

}  // namespace poolproof
