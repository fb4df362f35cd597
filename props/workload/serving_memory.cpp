// Whether a lending fits, and what the prefix cache gives up so that it does.
#include <algorithm>

#include "props/workload/serving_state.hpp"

namespace poolproof {
namespace {

/// A prefix that more rows hold keeps its SWA half: it is in use all the time.
constexpr std::size_t most_holders = 64;

}  // namespace

PageNeed Serving::State::flight_need() const {
  PageNeed need;
  for (std::size_t i = flight_begin; i < flight_end; ++i) {
    need.full += batch[i].need.full;
    need.swa += batch[i].need.swa;
  }
  return need;
}

bool Serving::State::fits(const Machine& machine) const {
  const PageNeed need = flight_need();
  return need.full <= machine.full_free_pages() && (!geo.paired() || need.swa <= machine.swa_free_pages());
}

/// What is free and what the cache could give up, less what the batch asks for already.
PageNeed Serving::State::within_reach(const Machine& machine) const {
  PageNeed reach{machine.full_free_pages() + tree.idle_tokens() / geo.page, 0};
  if (geo.paired()) {
    reach.swa = machine.swa_free_pages() + tree.idle_swa_tokens() / geo.page;
  }
  for (const LentPiece& piece : batch) {
    reach.full -= piece.need.full;
    reach.swa -= piece.need.swa;
  }
  return reach;
}

/// An engine that asks first and evicts when it is refused; once a step.
bool Serving::State::ask_too_much() {
  if (!options.features.optimistic || asked_too_much || !choices.odds(1, 4)) {
    return false;
  }
  asked_too_much = true;
  return true;
}

PageNeed Serving::State::evict_leaf(PrefixNodeId leaf, Tokens wanted) {
  const PrefixTree::Removed removed = tree.remove_last(leaf, wanted);
  ++counts.evictions;
  free_range(Side::both, removed.row, removed.freed);
  if (removed.row_ends) {
    if (removed.freed.begin > 0) {
      ops.emplace_back(op::Drop{removed.row, {0, removed.freed.begin}});
    }
    rows.give(removed.row);
  }
  moved = true;
  return {removed.freed.size() / geo.page, removed.swa_tokens / geo.page};
}

/// Takes the SWA half of a node, when all who hold it have it behind their windows.
bool Serving::State::make_tombstone(PrefixNodeId id) {
  const PrefixNode& node = tree.node(id);
  const Range gone{node.swa_from, node.end};
  if (node.running.size() > most_holders) {
    return false;
  }
  std::vector<RunningRequest*> holders;
  for (const auto& request : running) {
    if (std::find(node.running.begin(), node.running.end(), request->row) != node.running.end()) {
      if (gone.end > window_bound(request->length) || gone.begin < request->frontier) {
        return false;
      }
      holders.push_back(request.get());
    }
  }
  const std::optional<std::vector<Row>> leaves = tree.rows_of(id, most_holders);
  if (!leaves) {
    return false;
  }
  op::Free evict{Side::swa, {}};
  for (const Row row : *leaves) {
    evict.pieces.push_back({row, gone});
  }
  for (RunningRequest* request : holders) {
    evict.pieces.push_back({request->row, gone});
    request->frontier = gone.end;
  }
  if (evict.pieces.size() == 1) {
    free_range(Side::swa, evict.pieces[0].row, gone);
  } else {
    ops.emplace_back(std::move(evict));
  }
  tree.set_swa_from(id, gone.end);
  ++counts.tombstones;
  return true;
}

/// The SWA half used longest ago goes; a leaf goes whole, since nobody could go on from it.
PageNeed Serving::State::evict_swa() {
  for (const auto& [used, id] : tree.swa_by_use()) {
    const PrefixNode& node = tree.node(id);
    if (tree.leaf(id) && node.running.empty()) {
      return evict_leaf(id, node.end - node.begin);
    }
    const Tokens tokens = node.end - node.swa_from;
    if (make_tombstone(id)) {
      moved = true;
      return {0, tokens / geo.page};
    }
  }
  return {};
}

/// Evicts until so many pages are free; false when nothing could go.
bool Serving::State::make_room(const Machine& machine, PageNeed need) {
  PageNeed gap{need.full - machine.full_free_pages(), geo.paired() ? need.swa - machine.swa_free_pages() : 0};
  bool evicted = false;
  const auto won = [&](PageNeed freed) {
    gap.full -= freed.full;
    gap.swa -= freed.swa;
    evicted = evicted || freed.full > 0 || freed.swa > 0;
    return freed.full > 0 || freed.swa > 0;
  };
  begin_frees();
  for (auto leaf = tree.oldest_leaf(); gap.full > 0 && leaf; leaf = tree.oldest_leaf()) {
    won(evict_leaf(*leaf, gap.full * geo.page));
  }
  while (gap.swa > 0 && won(evict_swa())) {
  }
  end_frees();
  return evicted;
}

}  // namespace poolproof
