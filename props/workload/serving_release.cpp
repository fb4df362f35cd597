// What a request gives back as it runs and when it ends, and what the prefix cache keeps of it.
#include <algorithm>

#include "props/workload/serving_state.hpp"

namespace poolproof {

// ---- frees

/// The frees up to end_frees() stand in one group, if there are any.
void Serving::State::begin_frees() { grouping = options.features.groups; }

void Serving::State::end_frees() {
  grouping = false;
  if (std::exchange(group_open, false)) {
    ops.emplace_back(op::GroupEnd{});
  }
}

void Serving::State::free_range(Side side, Row row, Range range) {
  if (range.begin >= range.end) {
    return;
  }
  if (grouping && !std::exchange(group_open, true)) {
    ops.emplace_back(op::GroupBegin{});
  }
  if (options.features.segments) {
    ops.emplace_back(op::FreeSegment{side, row, {range}});
  } else {
    ops.emplace_back(op::Free{side, {{row, range}}});
  }
}

// ---- KV data

/// The forward pass stores these positions.
void Serving::State::write(const RunningRequest& request, Range range) {
  ops.emplace_back(op::Write{request.row, range});
}

/// Now and then a request is held to what attention at its last position would read.
void Serving::State::read_sometimes(const RunningRequest& request) {
  if (options.read_one_in == 0 || !choices.odds(1, options.read_one_in)) {
    return;
  }
  constexpr Pos short_read = 64;
  const Pos lowest = geo.layout == Layout::pure_swa ? request.frontier : 0;
  const bool whole = choices.odds(1, 8);
  const Pos begin = whole ? lowest : std::max(lowest, request.length - std::max(short_read, geo.window));
  ops.emplace_back(op::Read{request.row, {begin, request.length}});
}

// ---- while it runs

/// After its forward pass: it ends, or gives back what left its window.
void Serving::State::settle(RunningRequest& request) {
  if (request.ended()) {
    finish(request);
  } else {
    evict_window(request);
  }
}

void Serving::State::evict_window(RunningRequest& request) {
  if (!sliding_swa) {
    return;
  }
  const Pos begin = std::max(request.frontier, request.shared);
  const Pos bound = window_bound(request.length);
  if (begin < bound) {
    free_range(Side::swa, request.row, {begin, bound});
    request.frontier = bound;
  }
}

// ---- when it ends

void Serving::State::give_slot(const RunningRequest& request) {
  if (geo.reqs > 0) {
    ops.emplace_back(op::SlotGive{request.row});
  }
}

/// Lets go of what the cache holds; what is its own goes back from `own_begin` on.
void Serving::State::let_go(RunningRequest& request, Pos own_begin) {
  free_range(Side::both, request.row, {own_begin, request.length});
  if (request.shared > 0) {
    ops.emplace_back(op::Drop{request.row, {0, request.shared}});
  }
  give_slot(request);
  rows.give(request.row);
}

/// Gives all back; nothing is kept.
void Serving::State::release(RunningRequest& request) {
  const bool holes = geo.layout == Layout::pure_swa;
  let_go(request, std::max(request.shared, holes ? request.frontier : 0));
  tree.unlock(request.node, request.row);
}

void Serving::State::forget(const RunningRequest& request) {
  running.erase(std::find_if(running.begin(), running.end(), [&](const auto& one) { return one.get() == &request; }));
}

void Serving::State::finish(RunningRequest& request) {
  ++counts.served;
  counts.generated_tokens += request.generated;
  if (!caching) {
    release(request);
    return;
  }
  const std::vector<PromptBlock> blocks = blocks_of(request.queued, aligned(request.length));
  const PrefixTree::Found known = tree.walk(blocks);
  if (known.end > request.shared) {
    give_back_duplicates(request, known);
  }
  hand_over(request, known, std::span(blocks).subspan(known.blocks));
}

/// What others put into the cache meanwhile was computed twice: its own copy goes, to a tombstone its SWA pages.
void Serving::State::give_back_duplicates(RunningRequest& request, PrefixTree::Found known) {
  recover_path(request, known, known.end);
  free_range(Side::both, request.row, {request.shared, known.end});
}

/// Tombstones of the cache that the request computed again get its SWA pages, up to a position from which on it needs
/// them itself.
void Serving::State::recover_path(RunningRequest& request, PrefixTree::Found known, Pos bound) {
  if (!options.features.recovery || !geo.paired()) {
    return;
  }
  std::vector<PrefixNodeId> path;
  for (PrefixNodeId id = known.node; tree.node(id).end > request.shared; id = tree.node(id).parent) {
    path.push_back(id);
  }
  for (auto id = path.rbegin(); id != path.rend(); ++id) {
    recover(request, *id, bound);
  }
}

void Serving::State::recover(RunningRequest& request, PrefixNodeId id, Pos bound) {
  const PrefixNode& node = tree.node(id);
  const Pos own = std::max(request.frontier, request.shared);
  const Range lost{std::max(node.begin, own), node.swa_from};
  if (lost.begin >= lost.end || lost.end > bound) {
    return;
  }
  if (sliding_swa && bound <= window_bound(request.length)) {  // it runs on: nothing of its window is left behind
    free_range(Side::swa, request.row, {own, lost.begin});
  }
  request.frontier = lost.end;
  ops.emplace_back(op::Remap{tree.row_of(id), lost, request.row, lost.begin});
  tree.set_swa_from(id, lost.begin);
  ++counts.recoveries;
}

/// The cache takes over the blocks that it does not know.
void Serving::State::hand_over(RunningRequest& request, PrefixTree::Found known, std::span<const PromptBlock> blocks) {
  const Pos end = aligned(request.length);
  free_range(Side::both, request.row, {end, request.length});
  request.length = end;
  tree.unlock(request.node, request.row);
  if (blocks.empty()) {
    request.length = known.end;
    let_go(request, known.end);
  } else if (known.end == request.shared) {
    become_leaf(request, known, blocks);
  } else {
    copy_to_leaf(request, known, blocks);
  }
}

/// The request's row goes on as the leaf's.
void Serving::State::become_leaf(RunningRequest& request, PrefixTree::Found known,
                                 std::span<const PromptBlock> blocks) {
  if (tree.leaf(known.node)) {
    const Row former = tree.row_of(known.node);
    ops.emplace_back(op::Drop{former, {0, known.end}});
    rows.give(former);
  }
  give_slot(request);
  tree.touch(tree.grow(known.node, blocks, request.frontier, request.row));
}

/// The request's row has a hole where its duplicates were: a row of the cache takes what is behind it.
void Serving::State::copy_to_leaf(RunningRequest& request, PrefixTree::Found known,
                                  std::span<const PromptBlock> blocks) {
  Row row = tree.row_of(known.node);
  if (!tree.leaf(known.node)) {
    const Row donor = row;
    row = rows.take();
    ops.emplace_back(op::Copy{row, {0, known.end}, donor});
  }
  ops.emplace_back(op::Copy{row, {known.end, request.length}, request.row});
  ops.emplace_back(op::Drop{request.row, {known.end, request.length}});
  tree.touch(tree.grow(known.node, blocks, request.frontier, row));
  request.length = known.end;
  let_go(request, known.end);
}

}  // namespace poolproof
