#include "props/shrink.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "props/lockstep.hpp"
#include "props/reductions.hpp"

namespace poolproof {
namespace {

/// Longer traces are shrunk in large steps first.
constexpr std::size_t short_enough = 200;

/// Weights, layers beyond the first of a side, rows of unusual sizes, backups.
Tokens memory_of(const KvShape& kv) {
  const auto count = [](bool unusual) { return unusual ? 1 : 0; };
  return kv.full_layers + kv.swa_layers + count(kv.weights_bytes > 0) + count(kv.heads > 0) + count(kv.head_dim > 0) +
         count(kv.index_bytes > 0) + count(kv.type != KvType::bf16) + count(kv.saver == SaverMode::backup);
}

/// What shrinking makes smaller, most important first.
std::tuple<std::size_t, std::size_t, Tokens, Tokens> cost_of(const Trace& trace) {
  std::size_t parts = 0;
  Tokens tokens = 0;
  for (const Op& op : trace.ops) {
    parts += parts_of(op);
    tokens += tokens_of(op);
  }
  const Geometry& g = trace.geometry;
  const Tokens geometry =
      g.full + g.swa + g.page + g.ring + g.window + g.reqs + (g.need_sort ? 1 : 0) + memory_of(g.kv);
  return {trace.ops.size(), parts, geometry, tokens};
}

class Shrinker {
 public:
  Shrinker(const ImplInfo& impl, const Cause& cause, const ShrinkOptions& options)
      : impl_(impl), cause_(cause), options_(options) {}

  std::optional<ShrinkResult> run(const Trace& trace) {
    best_ = trace;
    best_.lines.clear();
    if (!whole()) {
      return std::nullopt;
    }
    best_.ops.resize(std::min<std::size_t>(best_.ops.size(), verdict_.op));  // what comes after it does not matter
    drop_expectations();
    cut_to_end();
    shorten();
    bool smaller = true;
    while (smaller && !stopped()) {
      smaller = drop_chunks();
      smaller = reduce(geometry_reductions) || smaller;
      smaller = reduce_parts() || smaller;
      smaller = (!smaller && reduce(joint_reductions)) || smaller;
      smaller = (!smaller && drop_pairs()) || smaller;
      smaller = (!smaller && reduce(order_reductions)) || smaller;
      smaller = keep(with_rows_renumbered(best_)) || smaller;
    }
    return ShrinkResult{std::move(best_), std::move(verdict_), evaluations_, !stopped()};
  }

 private:
  bool stopped() {
    out_of_time_ = out_of_time_ || evaluations_ >= options_.max_evaluations || (options_.stop && options_.stop());
    return out_of_time_;
  }

  /// Runs a candidate, mended where the protocol asks for it. On the same cause `trace` becomes what was really run.
  std::optional<Verdict> evaluate(Trace& trace) {
    ++evaluations_;
    RunOptions options;
    options.census_every = 1;
    options.census_from = trace.ops.size() <= long_trace_ops ? 0 : trace.ops.size() - 2 * rare_census;
    options.repair = true;
    RunResult result = run_trace(trace, impl_, options);
    free_ = result.free;
    if (!result.verdict || result.verdict->cause != cause_) {
      return std::nullopt;
    }
    trace.ops = std::move(result.executed);
    return std::move(result.verdict);
  }

  /// Keeps the candidate when it still fails in the same way and is smaller.
  bool keep(Trace candidate) {
    if (stopped() || geometry_fault(candidate.geometry) || !impl_.supports(candidate.geometry)) {
      return false;
    }
    std::optional<Verdict> verdict = evaluate(candidate);
    if (!verdict || !(cost_of(candidate) < cost_of(best_))) {
      return false;
    }
    best_ = std::move(candidate);
    best_free_ = free_;
    verdict_ = std::move(*verdict);
    return true;
  }

  /// Many a fault shows only when a pool is full to a page. What is left out leaves pages free, so the candidate is
  /// also tried in pools that lack them.
  bool keep_tight(Trace candidate) {
    if (keep(candidate)) {
      return true;
    }
    if (best_.ops.size() <= short_enough) {
      return false;  // reductions of two steps at once do it there
    }
    const std::int64_t full = std::max<std::int64_t>(0, free_.full - best_free_.full);
    const std::int64_t swa = std::max<std::int64_t>(0, free_.swa - best_free_.swa);
    Geometry& g = candidate.geometry;
    g.full -= full * g.page;
    g.swa -= g.paired() ? swa * g.page : 0;
    return !(g == best_.geometry) && keep(std::move(candidate));
  }

  void drop_expectations() {
    Trace candidate = best_;
    std::erase_if(candidate.ops, [](const Op& op) { return std::holds_alternative<op::Expect>(op); });
    if (candidate.ops.size() < best_.ops.size()) {
      keep(std::move(candidate));
    }
  }

  bool drop(std::size_t begin, std::size_t count) {
    Trace candidate = best_;
    const auto first = candidate.ops.begin() + static_cast<std::ptrdiff_t>(begin);
    candidate.ops.erase(first, first + static_cast<std::ptrdiff_t>(std::min(count, candidate.ops.size() - begin)));
    return keep_tight(std::move(candidate));
  }

  /// Of a long trace the end alone is often enough, once the rows are mended: the shortest such end, by doubling. It
  /// costs little, and a million ops need not be run again and again.
  void cut_to_end() {
    constexpr std::size_t shortest = 32;
    for (std::size_t length = shortest; length < best_.ops.size() / 2 && !stopped(); length *= 2) {
      if (keep_tight({best_.geometry, {best_.ops.end() - static_cast<std::ptrdiff_t>(length), best_.ops.end()}, {}})) {
        return;
      }
    }
  }

  /// Does the trace fail as it stands?
  bool whole() {
    std::optional<Verdict> verdict = evaluate(best_);
    if (verdict) {
      best_free_ = free_;
      verdict_ = std::move(*verdict);
    }
    return verdict.has_value();
  }

  /// Of what is long still: it fails earlier in smaller pools, then whole requests go, then long runs of ops, until it
  /// is short enough to try single ones.
  void shorten() {
    for (bool smaller = true; smaller && best_.ops.size() > short_enough && !stopped();) {
      smaller = smaller_pools();
      smaller = drop_rows() || smaller;
      smaller = drop_chunks(best_.ops.size() / 64) || smaller;
    }
  }

  /// Pools divided by a lot, or by less.
  bool smaller_pools() {
    bool smaller = false;
    for (const std::int64_t by : {64, 16, 4, 2}) {
      for (const auto& [full, swa, reqs] : {std::tuple{by, by, by}, {by, by, 1L}, {by, 1L, 1L}, {1L, by, 1L}}) {
        Trace candidate = best_;
        Geometry& g = candidate.geometry;
        g.full = std::max<std::int64_t>(1, g.full_pages() / full) * g.page;
        g.swa = g.hybrid() ? std::max<std::int64_t>(1, g.swa_pages() / swa) * g.page : 0;
        g.reqs = g.reqs > 0 ? std::max<std::int64_t>(1, g.reqs / reqs) : 0;
        smaller = (!(g == best_.geometry) && keep(std::move(candidate))) || smaller;
      }
    }
    return smaller;
  }

  /// Requests, by their rows: half of them at a time down to few. Those of the failing op stay.
  bool drop_rows() {
    std::vector<Row> others = rows_of(best_);
    const std::vector<Row> last = rows_of({best_.geometry, {best_.ops.back()}, {}});
    std::erase_if(others, [&](Row row) { return std::binary_search(last.begin(), last.end(), row); });
    bool smaller = false;
    const std::size_t least = others.size() / 32;
    for (std::size_t chunk = others.size(); chunk > least && !stopped(); chunk /= 2) {
      for (std::size_t begin = 0; begin < others.size() && !stopped();) {
        const auto first = others.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto end = others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), begin + chunk));
        if (keep_tight(without_rows(best_, {first, end}))) {
          others.erase(first, end);
          smaller = true;
        } else {
          begin += chunk;
        }
      }
    }
    return smaller;
  }

  /// Runs of ops, half the trace down to runs of `least`.
  bool drop_chunks(std::size_t least = 1) {
    bool smaller = false;
    for (std::size_t chunk = std::max<std::size_t>(1, best_.ops.size() / 2); chunk >= least && chunk > 0; chunk /= 2) {
      for (std::size_t end = best_.ops.size(); end > 0 && !stopped();) {
        const std::size_t begin = end > chunk ? end - chunk : 0;
        smaller = drop(begin, end - begin) || smaller;
        end = std::min(begin, best_.ops.size());
      }
    }
    return smaller;
  }

  /// Two ops that need each other: a group's two ends, a slot and its return.
  bool drop_pairs() {
    for (std::size_t i = 0; i + 1 < best_.ops.size(); ++i) {
      for (std::size_t j = i + 1; j < best_.ops.size() && !stopped(); ++j) {
        Trace candidate = best_;
        candidate.ops.erase(candidate.ops.begin() + static_cast<std::ptrdiff_t>(j));
        candidate.ops.erase(candidate.ops.begin() + static_cast<std::ptrdiff_t>(i));
        if (keep(std::move(candidate))) {
          return true;
        }
      }
    }
    return false;
  }

  /// The first smaller variant of one op that still fails.
  bool reduce_op(std::size_t which) {
    for (Op& reduced : op_reductions(best_.ops[which], best_.geometry)) {
      Trace candidate = best_;
      candidate.ops[which] = std::move(reduced);
      if (keep(std::move(candidate))) {
        return true;
      }
    }
    return false;
  }

  /// Pieces of batches, lengths of ranges, rows that can be another row.
  bool reduce_parts() {
    bool smaller = false;
    for (std::size_t i = 0; i < best_.ops.size() && !stopped(); ++i) {
      while (i < best_.ops.size() && reduce_op(i)) {
        smaller = true;
      }
    }
    return smaller;
  }

  /// The first of the candidates that still fails, and so on from there.
  bool reduce(std::vector<Trace> (*candidates)(const Trace&)) {
    bool smaller = false;
    for (bool again = true; again && !stopped();) {
      again = false;
      for (Trace& candidate : candidates(best_)) {
        if (keep(std::move(candidate))) {
          again = smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  const ImplInfo& impl_;
  const Cause& cause_;
  const ShrinkOptions& options_;
  Trace best_;
  Verdict verdict_;
  FreePages best_free_;  ///< before its failing op
  FreePages free_;       ///< before the last op of the candidate run last
  std::uint64_t evaluations_ = 0;
  bool out_of_time_ = false;
};

}  // namespace

namespace {

bool hangs(const Cause& cause) {
  const auto* breakdown = std::get_if<Breakdown>(&cause);
  return breakdown != nullptr && breakdown->kind == BreakdownKind::hung;
}

}  // namespace

std::optional<ShrinkResult> shrink(const Trace& trace, const ImplInfo& impl, const Cause& cause,
                                   const ShrinkOptions& options) {
  if (!hangs(cause) || !impl.hurry) {
    return Shrinker(impl, cause, options).run(trace);
  }
  // Each run that hangs waits for the whole time limit, so it is cut down meanwhile; the answer is run with all of it.
  impl.hurry(true);
  std::optional<ShrinkResult> result = Shrinker(impl, cause, options).run(trace);
  impl.hurry(false);
  if (result) {
    RunResult slow = run_and_pin(result->trace, impl);
    if (!slow.verdict || slow.verdict->cause != cause) {
      return std::nullopt;
    }
    result->verdict = *std::move(slow.verdict);
  }
  return result;
}

}  // namespace poolproof
