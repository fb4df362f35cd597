#include "props/workload/prefix_tree.hpp"

#include <algorithm>

namespace poolproof {

PrefixTree::PrefixTree(bool windowed) : windowed_(windowed), nodes_(1) {}

PrefixTree::Found PrefixTree::walk(std::span<const PromptBlock> blocks) const {
  Found found;
  for (const PromptBlock& block : blocks) {
    const auto next = nodes_[found.node].children.find(block);
    if (next == nodes_[found.node].children.end()) {
      break;
    }
    found = {next->second, nodes_[next->second].end, found.blocks + 1};
  }
  return found;
}

PrefixTree::Found PrefixTree::match(std::span<const PromptBlock> blocks, Pos limit, Pos window) const {
  Found best;
  PrefixNodeId at = root;
  std::size_t walked = 0;
  Pos unbroken = 0;  // SWA halves are there from here to the walk's end
  for (const PromptBlock& block : blocks) {
    const auto next = nodes_[at].children.find(block);
    if (next == nodes_[at].children.end() || nodes_[next->second].end > limit) {
      break;
    }
    at = next->second;
    ++walked;
    const PrefixNode& node = nodes_[at];
    if (windowed_ && node.swa_from > node.begin) {
      unbroken = node.swa_from;
    }
    if (!windowed_ || node.end - unbroken >= std::min(window, node.end)) {
      best = {at, node.end, walked};
    }
  }
  return best;
}

Row PrefixTree::row_of(PrefixNodeId id) const {
  while (!nodes_[id].children.empty()) {
    id = nodes_[id].children.begin()->second;
  }
  return *nodes_[id].row;
}

std::optional<std::vector<Row>> PrefixTree::rows_of(PrefixNodeId id, std::size_t most) const {
  std::vector<Row> rows;
  std::vector<PrefixNodeId> open{id};
  while (!open.empty()) {
    const PrefixNode& next = nodes_[open.back()];
    open.pop_back();
    if (next.children.empty()) {
      rows.push_back(*next.row);
    }
    for (const auto& [block, child] : next.children) {
      open.push_back(child);
    }
    if (rows.size() + open.size() > most) {  // each open node has a leaf of its own
      return std::nullopt;
    }
  }
  return rows;
}

void PrefixTree::unlist(PrefixNodeId id) {
  const PrefixNode& node = nodes_[id];
  leaves_by_use_.erase({node.used, id});
  swa_by_use_.erase({node.used, id});
  if (node.running.empty()) {
    idle_tokens_ -= node.end - node.begin;
    idle_swa_tokens_ -= windowed_ ? node.end - node.swa_from : 0;
  }
}

void PrefixTree::list(PrefixNodeId id) {
  const PrefixNode& node = nodes_[id];
  if (node.running.empty()) {
    idle_tokens_ += node.end - node.begin;
    idle_swa_tokens_ += windowed_ ? node.end - node.swa_from : 0;
    if (node.children.empty()) {
      leaves_by_use_.insert({node.used, id});
    }
  }
  if (windowed_ && node.swa_from < node.end) {
    swa_by_use_.insert({node.used, id});
  }
}

PrefixNodeId PrefixTree::add(PrefixNodeId parent, PromptBlock block, Pos swa_from) {
  PrefixNodeId id = static_cast<PrefixNodeId>(nodes_.size());
  if (spare_.empty()) {
    nodes_.emplace_back();
  } else {
    id = spare_.back();
    spare_.pop_back();
    nodes_[id] = {};
  }
  PrefixNode& node = nodes_[id];
  node.parent = parent;
  node.block = block;
  node.begin = nodes_[parent].end;
  node.end = node.begin + block.tokens;
  node.swa_from = std::clamp(swa_from, node.begin, node.end);
  node.used = ++uses_;
  nodes_[parent].children.emplace(block, id);
  list(id);
  return id;
}

PrefixNodeId PrefixTree::grow(PrefixNodeId at, std::span<const PromptBlock> blocks, Pos swa_from, Row row) {
  if (at != root) {
    unlist(at);
    leaves_ -= nodes_[at].row ? 1 : 0;
    nodes_[at].row.reset();
  }
  PrefixNodeId last = at;
  for (const PromptBlock& block : blocks) {
    const PrefixNodeId next = add(last, block, swa_from);
    if (last == at && at != root) {
      list(at);
    } else if (last != at) {
      leaves_by_use_.erase({nodes_[last].used, last});
    }
    last = next;
  }
  nodes_[last].row = row;
  ++leaves_;
  return last;
}

void PrefixTree::touch(PrefixNodeId id) {
  for (; id != root; id = nodes_[id].parent) {
    unlist(id);
    nodes_[id].used = ++uses_;
    list(id);
  }
}

void PrefixTree::lock(PrefixNodeId id, Row request) {
  for (; id != root; id = nodes_[id].parent) {
    unlist(id);
    nodes_[id].running.push_back(request);
    list(id);
  }
}

void PrefixTree::unlock(PrefixNodeId id, Row request) {
  for (; id != root; id = nodes_[id].parent) {
    std::vector<Row>& running = nodes_[id].running;
    unlist(id);
    running.erase(std::find(running.begin(), running.end(), request));
    list(id);
  }
}

void PrefixTree::set_swa_from(PrefixNodeId id, Pos from) {
  unlist(id);
  nodes_[id].swa_from = from;
  list(id);
}

void PrefixTree::remove(PrefixNodeId leaf) {
  const PrefixNodeId parent = nodes_[leaf].parent;
  unlist(leaf);
  if (parent != root) {
    unlist(parent);
  }
  nodes_[parent].children.erase(nodes_[leaf].block);
  if (parent != root) {
    list(parent);
  }
  spare_.push_back(leaf);
}

PrefixTree::Removed PrefixTree::remove_last(PrefixNodeId leaf, Tokens wanted) {
  Removed removed;
  removed.row = *nodes_[leaf].row;
  removed.freed = {nodes_[leaf].end, nodes_[leaf].end};
  PrefixNodeId at = leaf;
  for (;;) {
    const PrefixNodeId parent = nodes_[at].parent;
    removed.freed.begin = nodes_[at].begin;
    removed.swa_tokens += windowed_ ? nodes_[at].end - nodes_[at].swa_from : 0;
    remove(at);
    at = parent;
    if (at == root || !nodes_[at].children.empty()) {
      removed.row_ends = true;
      --leaves_;
      return removed;
    }
    if (!nodes_[at].running.empty() || removed.freed.size() >= wanted) {
      nodes_[at].row = removed.row;
      return removed;
    }
  }
}

std::optional<PrefixNodeId> PrefixTree::oldest_leaf() const {
  return leaves_by_use_.empty() ? std::nullopt : std::optional(leaves_by_use_.begin()->second);
}

}  // namespace poolproof
