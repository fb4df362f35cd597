// How fast a trace is checked: items are ops, each admitted, called on the host twin and observed.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/choices.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

constexpr std::size_t ops_per_trace = 2000;

Trace sample(const Geometry& geometry) {
  RandomChoices choices(1, 0);
  return generate(geometry, choices, ops_per_trace);
}

void run(benchmark::State& state, const Geometry& geometry, std::uint32_t census_every) {
  const Trace trace = sample(geometry);
  const ImplInfo* host = find_impl("host");
  std::int64_t ops = 0;
  for (auto _ : state) {
    const RunResult result = run_trace(trace, *host, {.census_every = census_every});
    if (result.verdict || !result.build_error.empty()) {
      state.SkipWithError("host does not hold");
      return;
    }
    ops += static_cast<std::int64_t>(result.ops);
  }
  state.SetItemsProcessed(ops);
}

void generate_trace(benchmark::State& state, const Geometry& geometry) {
  std::uint64_t stream = 0;
  std::int64_t ops = 0;
  for (auto _ : state) {
    RandomChoices choices(1, stream++);
    ops += static_cast<std::int64_t>(generate(geometry, choices, ops_per_trace).ops.size());
  }
  state.SetItemsProcessed(ops);
}

void parse(benchmark::State& state, const Geometry& geometry) {
  const std::string text = print_trace(sample(geometry));
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse_trace(text, "bench"));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void register_all() {
  for (const NamedGeometry& named : named_geometries()) {
    const Geometry geometry = named.geometry;
    const auto add = [&](const std::string& what, auto body) {
      benchmark::RegisterBenchmark((what + "/" + named.name).c_str(), body);
    };
    add("run", [geometry](benchmark::State& state) { run(state, geometry, RunOptions{}.census_every); });
    add("census_each_op", [geometry](benchmark::State& state) { run(state, geometry, 1); });
    add("generate", [geometry](benchmark::State& state) { generate_trace(state, geometry); });
    add("parse", [geometry](benchmark::State& state) { parse(state, geometry); });
  }
}

}  // namespace
}  // namespace poolproof

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  poolproof::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
