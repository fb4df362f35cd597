// How fast sequences are explored: transitions a second on one core, each an op on the implementation with the
// reference machine's checks and a census, and what a state takes of memory.
#include <benchmark/benchmark.h>

#include "fuzz/explorer/explorer.hpp"

namespace poolproof {
namespace {

void explore_scope(benchmark::State& state, const char* impl, const char* name) {
  const Scope& scope = *find_scope(name);
  std::uint64_t transitions = 0;
  ExploreResult result;
  for (auto _ : state) {
    result = explore(scope, *find_impl(impl), {});
    transitions += result.transitions;
  }
  if (result.end != ExploreEnd::exhausted) {
    state.SkipWithError("the scope was not exhausted");
  }
  state.counters["transitions"] = benchmark::Counter(static_cast<double>(transitions), benchmark::Counter::kIsRate);
  state.counters["states"] = static_cast<double>(result.states);
  state.counters["bytes_a_state"] = static_cast<double>(result.bytes) / static_cast<double>(result.states);
}

BENCHMARK_CAPTURE(explore_scope, host / paged, "host", "paged-tiny")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, host / pure_swa, "host", "pure-swa-tiny")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, host / hybrid, "host", "hybrid-tiny")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, host / hybrid_pages, "host", "hybrid-pages")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, host / ring, "host", "ring-tiny")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, host / ring_larger, "host", "ring")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore_scope, kernels / hybrid, "cuda-host", "hybrid-tiny")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace poolproof
