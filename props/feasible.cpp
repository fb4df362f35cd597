#include "props/feasible.hpp"

#include "props/swarm.hpp"

namespace poolproof {
namespace {

bool is_probe(OpWord word) { return word == OpWord::group_begin_again || word == OpWord::group_end_again; }

/// Legal outside groups alone (C6).
bool lives_outside_groups(OpWord word) {
  return word_empties(word) || word == OpWord::group_end_again || word == OpWord::backup || word == OpWord::restore;
}

bool leaves_no_group(OpWord word) { return word == OpWord::group_end || lives_outside_groups(word); }

bool leaves_a_group(OpWord word) { return word == OpWord::group_begin || word == OpWord::group_begin_again; }

bool needs_no_group(OpWord word) { return word == OpWord::group_begin || lives_outside_groups(word); }

bool needs_a_group(OpWord word) { return word == OpWord::group_end || word == OpWord::group_begin_again; }

bool pauses(OpWord word) { return word == OpWord::pause || word == OpWord::resume; }

bool build_order_allows(OpWord first, OpWord second, const Geometry& g) {
  // Between the two there are weights to pause, if any.
  const auto in_between = [&](OpWord word) {
    return word == OpWord::expect || (pauses(word) && g.kv.weights_bytes > 0);
  };
  if (first == OpWord::destroy) {
    return second == OpWord::build || in_between(second);
  }
  return second != OpWord::build || in_between(first);
}

/// KV is touched right behind a pause where that left it resident: of the weights, or with the saver off.
bool pause_allows(OpWord first, OpWord second, const Geometry& g) {
  const bool touches = second == OpWord::write || second == OpWord::read;
  return first != OpWord::pause || !touches || g.kv.weights_bytes > 0 || g.kv.saver == SaverMode::off;
}

/// Words that can be said of an empty allocator.
bool starts_from_nothing(OpWord word) {
  switch (word) {
    case OpWord::slot:
    case OpWord::alloc:
    case OpWord::extend:
    case OpWord::decode:
    case OpWord::tail:
    case OpWord::group_begin:
    case OpWord::group_end_again:
    case OpWord::backup:
    case OpWord::clear:
    case OpWord::resize:
    case OpWord::expect:
    case OpWord::pause:
    case OpWord::resume:
    case OpWord::destroy:
    case OpWord::build:
    case OpWord::flush:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool word_feasible(OpWord word, const Geometry& g) { return word_offered(word, g); }

bool refusal_feasible(OpWord word, const Geometry& g) {
  const bool out_of_turn = pauses(word) && g.kv.saver != SaverMode::off;
  return word_feasible(word, g) && (word_lends(word) || word == OpWord::slot || is_probe(word) || out_of_turn);
}

bool service_feasible(OpWord word, const Geometry& g) { return word_feasible(word, g) && !is_probe(word); }

bool pair_feasible(OpWord first, OpWord second, const Geometry& g) {
  if (!word_feasible(first, g) || !word_feasible(second, g)) {
    return false;
  }
  if ((leaves_a_group(first) && needs_no_group(second)) || (leaves_no_group(first) && needs_a_group(second))) {
    return false;
  }
  if (!build_order_allows(first, second, g) || !pause_allows(first, second, g)) {
    return false;
  }
  return !word_empties(first) || starts_from_nothing(second);
}

bool corner_feasible(Corner corner, const Geometry& g) {
  switch (corner) {
    case Corner::swa_exhausted:
    case Corner::tombstone_made:
    case Corner::tombstone_recovered:
      return g.paired();
    case Corner::swa_bound_refusal:
      // An SWA pool as large as the full one can run short alone only after a load-back across pages, or a resize.
      return g.paired() && g.swa < g.full;
    case Corner::remap_offset:
      return g.paired() && g.page > 1;
    case Corner::remap_in_group:
      return g.hybrid();
    case Corner::slot_refused:
    case Corner::slot_recycled:
    case Corner::retract:
      return g.reqs > 0;
    case Corner::ring_wrapped:
      return g.ringed() && g.reqs > 0 && g.ring < g.full;
    case Corner::speculation_rejected:
    case Corner::partial_last_page:
      return g.page > 1;
    case Corner::window_border:
      return g.sliding() && g.reqs > 0;
    default:
      return true;
  }
}

bool corner_offered(Corner corner, const OpWords& offered) {
  const auto has = [&](OpWord word) { return offered.test(static_cast<std::size_t>(word)); };
  const bool evicts = has(OpWord::free_swa) || has(OpWord::free_swa_segment);
  switch (corner) {
    case Corner::tombstone_made:
    case Corner::window_border:
      return evicts;
    case Corner::tombstone_recovered:
    case Corner::remap_offset:
      return has(OpWord::remap);
    case Corner::remap_in_group:
      return has(OpWord::remap) && has(OpWord::group_begin);
    case Corner::alloc_in_group:
    case Corner::group_many:
    case Corner::group_empty:
      return has(OpWord::group_begin);
    case Corner::partial_last_page:
      return has(OpWord::free_segment) || has(OpWord::free_swa_segment) || has(OpWord::free_full_segment);
    case Corner::restore_after_change:
      return has(OpWord::restore);
    default:
      return true;
  }
}

bool same_kind(const Geometry& a, const Geometry& b) {
  return a.layout == b.layout && a.ringed() == b.ringed() && (a.page > 1) == (b.page > 1) &&
         (a.reqs > 0) == (b.reqs > 0) && (a.swa < a.full) == (b.swa < b.full) &&
         (a.ring < a.full) == (b.ring < b.full) && a.kv.none() == b.kv.none() && a.kv.saver == b.kv.saver &&
         (a.kv.weights_bytes > 0) == (b.kv.weights_bytes > 0);
}

}  // namespace poolproof
