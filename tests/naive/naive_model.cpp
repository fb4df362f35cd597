// What is so and what an op does to it. The rules are in naive_rules.cpp, the allocator's half in naive_answers.cpp.
#include "tests/naive/naive_model.hpp"

#include <algorithm>

#include "tests/naive/overloaded.hpp"

namespace poolproof::naive {
namespace {

PoolState all_free(std::int64_t pages) {
  PoolState pool;
  for (std::int64_t page = 1; page <= pages; ++page) {
    pool.free.insert(page);
  }
  return pool;
}

}  // namespace

std::vector<Piece> pieces_of(const op::FreeSegment& op) {
  std::vector<Piece> pieces;
  for (const Range& range : op.ranges) {
    pieces.push_back({op.row, range});
  }
  return pieces;
}

Model::Model(const Geometry& geometry) : g_(geometry) { start_afresh(geometry.full, geometry.swa); }

void Model::start_afresh(Tokens full, Tokens swa) {
  g_.full = full;
  g_.swa = swa;
  full_ = all_free(g_.full_pages());
  swa_ = all_free(g_.hybrid() ? g_.swa_pages() : 0);
  mapping_.clear();
  evicted_.clear();
  rows_.clear();
  group_open_ = false;
  snapshots_.clear();
  full_kv_.clear();
  swa_kv_.clear();
  ring_kv_.clear();
}

std::int64_t Model::slots_free() const {
  const auto taken = std::count_if(rows_.begin(), rows_.end(), [](const auto& row) { return row.second.slot; });
  return g_.reqs - taken;
}

Pos Model::length(Row row) const {
  const auto found = rows_.find(row);
  return found == rows_.end() ? 0 : static_cast<Pos>(found->second.held.size());
}

std::optional<Loc> Model::loc_of(Row row, Pos position) const {
  if (position < 0 || position >= length(row)) {
    return std::nullopt;
  }
  return rows_.at(row).held[static_cast<std::size_t>(position)];
}

std::optional<std::int64_t> Model::slot_of(Row row) const {
  const auto found = rows_.find(row);
  return found == rows_.end() ? std::nullopt : found->second.slot;
}

Loc Model::peer(Loc full) const {
  const auto found = mapping_.find(full);
  return found == mapping_.end() ? 0 : found->second;
}

std::int64_t Model::holders(std::int64_t page) const {
  return std::count_if(rows_.begin(), rows_.end(), [&](const auto& row) {
    const auto& held = row.second.held;
    return std::any_of(held.begin(), held.end(), [&](const auto& t) { return t && *t / g_.page == page; });
  });
}

bool Model::any_peer(std::int64_t page) const {
  return std::any_of(mapping_.begin(), mapping_.end(), [&](const auto& m) { return m.first / g_.page == page; });
}

// Of the whole pages: what was rejected there kept its peer.
std::set<std::int64_t> Model::peer_pages_of(const std::set<std::int64_t>& pages) const {
  std::set<std::int64_t> peers;
  for (const auto& [full, swa] : mapping_) {
    if (pages.contains(full / g_.page)) {
      peers.insert(swa / g_.page);
    }
  }
  return peers;
}

Loc Model::last_loc(Row row) const {
  const auto last = loc_of(row, length(row) - 1);
  return last.value_or(-1);
}

std::int64_t Model::ring_row(std::int64_t slot, Pos position) const { return slot * g_.ring + position % g_.ring; }

std::vector<Piece> Model::pieces_of(const op::Decode& op) const {
  std::vector<Piece> pieces;
  for (const Row row : op.rows) {
    pieces.push_back({row, {length(row), length(row) + 1}});
  }
  return pieces;
}

std::set<std::int64_t> Model::pages_of(const std::vector<Piece>& pieces) const {
  std::set<std::int64_t> pages;
  for (const Piece& piece : pieces) {
    for (const Loc loc : locs_of(piece)) {
      pages.insert(loc / g_.page);
    }
  }
  return pages;
}

Locs Model::locs_of(const Piece& piece) const {
  Locs locs;
  for (Pos p = piece.range.begin; p < piece.range.end; ++p) {
    if (const auto held = loc_of(piece.row, p)) {
      locs.push_back(*held);
    }
  }
  return locs;
}

bool Model::fits(const Op& op) const {
  if (std::holds_alternative<op::SlotTake>(op)) {
    return slots_free() > 0;
  }
  if (const auto* pause = std::get_if<op::Pause>(&op)) {
    return in_turn(pause->tag, true);
  }
  if (const auto* resume = std::get_if<op::Resume>(&op)) {
    return in_turn(resume->tag, false);
  }
  std::int64_t full_pages = 0;
  std::int64_t swa_pages = 0;
  for (const Lending& lending : lendings_of(op)) {
    full_pages += g_.pages_of(lending.piece.range.end) - g_.pages_of(lending.piece.range.begin);
    if (lending.peered.size() > 0) {
      swa_pages += g_.pages_of(lending.peered.end) - g_.pages_of(lending.peered.begin);
    }
  }
  return full_pages <= std::ssize(full_.free) && swa_pages <= std::ssize(swa_.free);
}

std::vector<Lending> Model::lendings_of(const Op& op) const {
  std::vector<Lending> lendings;
  const auto add = [&](const Piece& piece, const Range& peered) {
    lendings.push_back({piece, g_.paired() ? peered : Range{}});
  };
  const auto add_all = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      add(piece, piece.range);
    }
  };
  std::visit(Overloaded{
                 [&](const op::Alloc& o) {
                   add({o.row, o.range}, o.range);
                 },
                 [&](const op::Extend& o) { add_all(o.pieces); },
                 [&](const op::Decode& o) { add_all(pieces_of(o)); },
                 [&](const op::Tail& o) {
                   add({o.row, o.range}, o.swa);
                 },
                 [](const auto&) {},
             },
             op);
  return lendings;
}

void Model::shorten(RowState& row) {
  while (!row.held.empty() && !row.held.back()) {
    row.held.pop_back();
  }
  row.evicted_to = std::min(row.evicted_to, static_cast<Pos>(row.held.size()));
}

void Model::let_go(Row row, const std::set<std::int64_t>& pages) {
  RowState& state = rows_[row];
  for (auto& held : state.held) {
    if (held && pages.contains(*held / g_.page)) {
      held.reset();
    }
  }
  shorten(state);
}

void Model::give_back(PoolState& pool, const std::set<std::int64_t>& pages) {
  for (const std::int64_t page : pages) {
    (group_open_ ? pool.deferred : pool.free).insert(page);
  }
}

void Model::release(Side side, const std::vector<Piece>& pieces) {
  const std::set<std::int64_t> touched = pages_of(pieces);
  if (side == Side::swa) {
    for (const Piece& piece : pieces) {
      RowState& row = rows_[piece.row];
      row.evicted_to = std::max(row.evicted_to, piece.range.end);
    }
  }
  for (const std::int64_t page : touched) {
    if (any_peer(page)) {
      evicted_.insert(page);
    }
  }
  if (g_.paired()) {
    give_back(swa_, peer_pages_of(touched));
  }
  std::erase_if(mapping_, [&](const auto& entry) { return touched.contains(entry.first / g_.page); });
  // pure_swa has one pool, which its SWA side is.
  const bool full_side = g_.layout == Layout::pure_swa ? side != Side::full : side != Side::swa;
  if (full_side) {
    give_back(full_, touched);
    for (auto& [row, state] : rows_) {
      let_go(row, touched);
    }
  }
}

void Model::end_group() {
  group_open_ = false;
  full_.free.merge(full_.deferred);
  swa_.free.merge(swa_.deferred);
  full_.deferred.clear();
  swa_.deferred.clear();
}

// After a restore a page may hold what was written in another lending of it: that is another's.
bool Model::written(const std::map<Loc, Kv>& kv, const PoolState& pool, Loc loc) const {
  const auto found = kv.find(loc);
  return found != kv.end() && found->second.lending == pool.lending.at(loc / g_.page);
}

// A ring holds own writes only, and those of a position no longer than until it is lent anew.
void Model::forget_ring(Row row, Pos position) {
  if (g_.ringed() && slot_of(row)) {
    const auto found = ring_kv_.find(ring_row(*slot_of(row), position));
    if (found != ring_kv_.end() && found->second.position == position) {
      ring_kv_.erase(found);
    }
  }
}

void Model::copy(const op::Copy& op) {
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    forget_ring(op.to, p);
    rows_[op.to].held.push_back(loc_of(op.from, p));
  }
}

void Model::remap(const op::Remap& op) {
  Locs peers;
  for (Pos i = 0; i < op.range.size(); ++i) {
    const Loc donor = *loc_of(op.from, op.from_begin + i);
    if (g_.ringed()) {
      peers.push_back(ring_row(*slot_of(op.from), op.from_begin + i));
    } else {
      peers.push_back(peer(donor));
      mapping_.erase(donor);
      evicted_.insert(donor / g_.page);
    }
  }
  for (Pos i = 0; i < op.range.size(); ++i) {
    const Loc target = *loc_of(op.to, op.range.begin + i);
    const Loc swa = peers[static_cast<std::size_t>(i)];
    evicted_.erase(target / g_.page);
    mapping_.erase(target);
    if (swa != 0) {
      mapping_[target] = swa;
    }
  }
}

void Model::backup(std::uint32_t name) { snapshots_[name] = {full_, swa_, mapping_, rows_, evicted_}; }

void Model::restore(const Snapshot& snapshot) {
  std::map<Row, RowState> rows = snapshot.rows;
  for (auto& [row, state] : rows) {
    state.slot.reset();
  }
  for (const auto& [row, state] : rows_) {
    rows[row].slot = state.slot;
  }
  full_ = snapshot.full;
  swa_ = snapshot.swa;
  mapping_ = snapshot.mapping;
  evicted_ = snapshot.evicted;
  rows_ = rows;
}

Gauges Model::gauges() const {
  Gauges out;
  out.full_available = std::ssize(full_.free) * g_.page;
  out.full_size = g_.full;
  out.available = out.full_available;
  out.size = out.full_size;
  out.slots_free = slots_free();
  out.slots = g_.reqs;
  out.mapping_tail = -1;
  if (g_.layout == Layout::pure_swa) {
    out.swa_available = out.full_available;
    out.swa_size = out.full_size;
  }
  if (g_.hybrid()) {
    out.swa_pool_available = std::ssize(swa_.free) * g_.page;
    out.swa_pool_size = g_.swa;
  }
  if (g_.paired()) {
    out.swa_available = out.swa_pool_available;
    out.swa_size = out.swa_pool_size;
    out.available = std::min(out.full_available, out.swa_available);
    out.size = std::min(out.full_size, out.swa_size);
  }
  if (g_.ringed()) {
    out.swa_available = slots_free() * g_.ring_cost();
    out.swa_size = g_.reqs * g_.ring_cost();
    out.size = std::min(out.full_size, out.swa_size);
  }
  return out;
}

}  // namespace poolproof::naive
