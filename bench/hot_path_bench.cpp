// The figures that docs/results keep: checked ops a second on small pools, and what an op costs on a pool of production
// size against a small one. All per-op invariants are checked; the census is a cost of its own (census_each_op).

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "impl/registry.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

/// The pool of sgl-project/sglang#38571.
constexpr Tokens production_tokens = 44'482'560;

Geometry hybrid(Tokens page, Tokens size) {
  return {.layout = Layout::hybrid, .page = page, .full = size, .swa = size, .window = page, .reqs = 8};
}

/// One request's life, as an engine serves it: admission, prefill, decode steps with KV written, window eviction, a
/// group of frees at the end, the slot given back. Ends as it began, so it can go round for ever.
std::vector<Op> request_life(const Geometry& g, Row row, Pos prompt, Pos decodes) {
  std::vector<Op> ops;
  ops.emplace_back(op::SlotTake{row});
  ops.emplace_back(op::Extend{{{row, {0, prompt}}}});
  ops.emplace_back(op::Write{row, {0, prompt}});
  for (Pos pos = prompt; pos < prompt + decodes; ++pos) {
    ops.emplace_back(op::Decode{{row}});
    ops.emplace_back(op::Write{row, {pos, pos + 1}});
  }
  const Pos length = prompt + decodes;
  ops.emplace_back(op::Read{row, {length - 1, length}});
  const Pos evicted = g.paired() ? (length - g.window) / g.page * g.page : 0;
  if (evicted > 0) {
    ops.emplace_back(op::FreeSegment{Side::swa, row, {{0, evicted}}});
  }
  ops.emplace_back(op::GroupBegin{});
  ops.emplace_back(op::FreeSegment{Side::both, row, {{0, length}}});
  ops.emplace_back(op::GroupEnd{});
  ops.emplace_back(op::SlotGive{row});
  return ops;
}

void go_round(benchmark::State& state, const Geometry& geometry, const std::vector<Op>& life) {
  auto allocator = find_impl("host")->make(geometry);
  if (!allocator) {
    state.SkipWithError(allocator.error().c_str());
    return;
  }
  Machine machine(geometry);
  Lockstep lockstep(machine, **allocator);
  if (lockstep.start()) {
    state.SkipWithError("host does not hold");
    return;
  }
  for (auto _ : state) {
    for (const Op& op : life) {
      if (lockstep.step(op)) {
        state.SkipWithError("host does not hold");
        return;
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(life.size()));
}

void register_all() {
  const auto add = [](const char* name, const Geometry& g, Pos prompt, Pos decodes) {
    benchmark::RegisterBenchmark(
        name, [=](benchmark::State& state) { go_round(state, g, request_life(g, 0, prompt, decodes)); });
  };
  add("checked/token", {.layout = Layout::token, .page = 1, .full = 64, .reqs = 8}, 8, 32);
  add("checked/paged_p4", {.layout = Layout::paged, .page = 4, .full = 128, .reqs = 8}, 8, 32);
  add("checked/hybrid_p1", hybrid(1, 64), 8, 32);
  add("checked/hybrid_p4", hybrid(4, 128), 8, 32);
  add("checked/hybrid_p16", hybrid(16, 256), 20, 32);
  add("checked/ring_p4",
      {.layout = Layout::hybrid, .page = 4, .full = 128, .swa = 128, .ring = 8, .window = 4, .reqs = 8}, 8, 32);
  add("checked/pure_swa", {.layout = Layout::pure_swa, .page = 1, .full = 64, .window = 8, .reqs = 8}, 8, 32);
  add("scale/hybrid_p256_4096_tokens", hybrid(256, 4096), 600, 300);
  add("scale/hybrid_p256_44482560_tokens", hybrid(256, production_tokens), 600, 300);
}

/// Requests that hold their pages at once, each freed and served anew in turn, so that the pages in use spread over
/// more memory than any cache holds: the pool's size is felt here, if anywhere.
void spread(benchmark::State& state, const Geometry& g, Row rows) {
  constexpr Pos prompt = 700;
  std::vector<Op> lives;
  for (Row row = 0; row < rows; ++row) {
    lives.emplace_back(op::Extend{{{row, {0, prompt}}}});
  }
  for (Row row = 0; row < rows; ++row) {
    lives.emplace_back(op::FreeSegment{Side::both, row, {{0, prompt}}});
    lives.emplace_back(op::Extend{{{row, {0, prompt}}}});
    for (int i = 0; i < 60; ++i) {
      lives.emplace_back(op::Decode{{row}});
    }
  }
  for (Row row = 0; row < rows; ++row) {
    lives.emplace_back(op::FreeSegment{Side::both, row, {{0, prompt + 60}}});
  }
  go_round(state, g, lives);
}

void register_spread() {
  benchmark::RegisterBenchmark("spread/hybrid_p256_4096_tokens_5_rows",
                               [](benchmark::State& state) { spread(state, hybrid(256, 4096), 5); });
  benchmark::RegisterBenchmark("spread/hybrid_p256_44482560_tokens_20000_rows",
                               [](benchmark::State& state) { spread(state, hybrid(256, production_tokens), 20000); });
}

const bool registered = [] {
  register_all();
  register_spread();
  return true;
}();

}  // namespace
}  // namespace poolproof
