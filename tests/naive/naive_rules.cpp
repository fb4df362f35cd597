// The caller's half: which protocol rules an op breaks (docs/semantics.md, sections 6 and 7).
#include <algorithm>

#include "tests/naive/naive_model.hpp"
#include "tests/naive/overloaded.hpp"

namespace poolproof::naive {
namespace {

using Rules = std::set<Rule>;

std::set<std::pair<Row, Pos>> named_by(const std::vector<Piece>& pieces) {
  std::set<std::pair<Row, Pos>> named;
  for (const Piece& piece : pieces) {
    for (Pos p = piece.range.begin; p < piece.range.end; ++p) {
      named.emplace(piece.row, p);
    }
  }
  return named;
}

}  // namespace

Rules Model::faults(const Op& op) const {
  const auto when = [](bool broken, Rule rule) { return broken ? Rules{rule} : Rules{}; };
  const bool builds = std::holds_alternative<op::Build>(op);
  const auto* pause = std::get_if<op::Pause>(&op);
  const auto* resume = std::get_if<op::Resume>(&op);
  const bool of_weights = (pause != nullptr && pause->tag == MemoryTag::weights) ||
                          (resume != nullptr && resume->tag == MemoryTag::weights);
  if (!built_ && !builds && !of_weights && !std::holds_alternative<op::Expect>(op)) {
    return {Rule::c11};
  }
  return std::visit(Overloaded{
                        [&](const op::SlotTake& o) { return when(slot_of(o.row).has_value(), Rule::c9); },
                        [&](const op::SlotGive& o) { return when(!slot_of(o.row).has_value(), Rule::c9); },
                        [&](const op::Alloc& o) { return when(o.range.begin != length(o.row), Rule::c7); },
                        [&](const op::Extend& o) { return batch_faults(o.pieces); },
                        [&](const op::Decode& o) { return batch_faults(pieces_of(o)); },
                        [&](const op::Tail& o) { return when(o.range.begin != length(o.row), Rule::c7); },
                        [&](const op::Free& o) { return free_faults(o.side, o.pieces); },
                        [&](const op::FreeSegment& o) { return segment_faults(o); },
                        [&](const op::Copy& o) { return copy_faults(o); },
                        [&](const op::Drop& o) { return drop_faults(o); },
                        [&](const op::Trim& o) { return trim_faults(o); },
                        [&](const op::Remap& o) { return remap_faults(o); },
                        [&](const op::Unmap& o) { return unmap_faults(o); },
                        [&](const op::Write& o) { return write_faults(o); },
                        [&](const op::Read& o) { return read_faults(o); },
                        [&](const op::GroupBegin& o) { return when(group_open_ != o.again, Rule::c6); },
                        [&](const op::GroupEnd& o) { return when(group_open_ == o.again, Rule::c6); },
                        [&](const op::Backup&) { return when(group_open_, Rule::c6); },
                        [&](const op::Restore& o) { return when(group_open_ || !has_backup(o.name), Rule::c6); },
                        [&](const op::Clear&) { return when(group_open_, Rule::c6); },
                        [&](const op::Resize&) { return when(group_open_, Rule::c6); },
                        [&](const op::Expect&) { return Rules{}; },
                        [&](const op::Pause&) { return Rules{}; },
                        [&](const op::Resume&) { return Rules{}; },
                        [&](const op::Destroy&) { return when(group_open_, Rule::c6); },
                        [&](const op::Build&) { return when(built_, Rule::c11); },
                        [&](const op::Flush&) { return when(group_open_, Rule::c6); },
                    },
                    op);
}

Rules Model::lending_faults(Row row, Pos begin) const {
  if (begin != length(row)) {
    return {Rule::c7};
  }
  if (!g_.paired() || begin == 0) {
    return {};
  }
  const Loc last = last_loc(row);
  const Loc last_peer = peer(last);
  if (last_peer == 0 || last_peer % g_.page != last % g_.page) {
    return {Rule::c7};
  }
  for (const auto& [full, swa] : mapping_) {
    if (swa / g_.page == last_peer / g_.page && full / g_.page != last / g_.page) {
      return {Rule::c7};
    }
  }
  return {};
}

Rules Model::batch_faults(const std::vector<Piece>& pieces) const {
  Rules broken;
  std::set<Row> seen;
  for (const Piece& piece : pieces) {
    if (!seen.insert(piece.row).second) {
      broken.insert(Rule::c7);
    }
    broken.merge(lending_faults(piece.row, piece.range.begin));
  }
  return broken;
}

// Every holder of a touched page names all that it holds there.
Rules Model::page_faults(const Named& named) const {
  std::set<std::int64_t> touched;
  for (const auto& [row, position] : named) {
    if (const auto held = loc_of(row, position)) {
      touched.insert(*held / g_.page);
    }
  }
  for (const auto& [row, state] : rows_) {
    for (Pos p = 0; p < length(row); ++p) {
      const auto held = loc_of(row, p);
      if (held && touched.contains(*held / g_.page) && !named.contains({row, p})) {
        return {Rule::c3};
      }
    }
  }
  return {};
}

// The row names all that it holds in the pages it names.
Rules Model::partial_faults(Row row, const Range& range) const {
  const std::set<std::int64_t> pages = pages_of({{row, range}});
  for (Pos p = 0; p < length(row); ++p) {
    const auto held = loc_of(row, p);
    if (held && pages.contains(*held / g_.page) && (p < range.begin || p >= range.end)) {
      return {Rule::c3};
    }
  }
  return {};
}

Rules Model::free_faults(Side side, const std::vector<Piece>& pieces) const {
  Rules broken;
  const Named named = named_by(pieces);
  for (const auto& [row, position] : named) {
    const auto held = loc_of(row, position);
    if (!held) {
      broken.insert(Rule::c1);
    } else if (side == Side::full && g_.paired() && peer(*held) != 0) {
      broken.insert(Rule::c5);
    }
  }
  if (g_.layout == Layout::pure_swa && side == Side::full) {
    return broken;  // releases nothing
  }
  broken.merge(page_faults(named));
  if (side == Side::swa) {
    broken.merge(eviction_faults(pieces));
  }
  if (side == Side::full || !g_.paired()) {
    return broken;
  }
  // An SWA page goes back as a whole: all full pages on it must be in this call.
  const std::set<std::int64_t> touched = pages_of(pieces);
  const std::set<std::int64_t> released = peer_pages_of(touched);
  for (const auto& [full, swa] : mapping_) {
    if (released.contains(swa / g_.page) && !touched.contains(full / g_.page)) {
      broken.insert(Rule::c3);
    }
  }
  return broken;
}

Rules Model::eviction_faults(const std::vector<Piece>& pieces) const {
  Rules broken;
  for (const Piece& piece : pieces) {
    if (slot_of(piece.row)) {
      const Pos bound = std::max<Pos>(0, length(piece.row) - g_.window) / g_.page * g_.page;
      if (piece.range.end > bound || piece.range.begin < rows_.at(piece.row).evicted_to) {
        broken.insert(Rule::c8);
      }
    }
  }
  for (const std::int64_t page : pages_of(pieces)) {
    if (g_.paired() && !any_peer(page) && evicted_.contains(page)) {
      broken.insert(Rule::c1);
    }
  }
  return broken;
}

Rules Model::segment_faults(const op::FreeSegment& op) const {
  Rules broken = free_faults(op.side, naive::pieces_of(op));
  std::int64_t first_free_page = 0;
  for (const Range& range : op.ranges) {
    if (range.begin % g_.page != 0 || range.begin / g_.page < first_free_page) {
      broken.insert(Rule::c4);
    }
    first_free_page = (range.end - 1) / g_.page + 1;
  }
  return broken;
}

Rules Model::copy_faults(const op::Copy& op) const {
  Rules broken;
  if (op.range.begin != length(op.to)) {
    broken.insert(Rule::c7);
  }
  if (op.range.begin % g_.page != 0 || op.range.end % g_.page != 0) {
    broken.insert(Rule::c3);
  }
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    if (!live(op.from, p)) {
      broken.insert(Rule::c2);
    }
  }
  return broken;
}

Rules Model::drop_faults(const op::Drop& op) const {
  Rules broken;
  std::set<std::int64_t> pages;
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    if (const auto held = loc_of(op.row, p)) {
      pages.insert(*held / g_.page);
    } else {
      broken.insert(Rule::c1);
    }
  }
  broken.merge(partial_faults(op.row, op.range));
  for (const std::int64_t page : pages) {
    if (holders(page) < 2) {
      broken.insert(Rule::c1);
    }
  }
  return broken;
}

Rules Model::trim_faults(const op::Trim& op) const {
  const Pos now = length(op.row);
  if (op.length == now) {
    return {};
  }
  Rules broken;
  if (op.length > now || op.length <= (now - 1) / g_.page * g_.page) {
    broken.insert(Rule::c10);
  }
  if (op.length < now && holders(last_loc(op.row) / g_.page) > 1) {
    broken.insert(Rule::c3);
  }
  return broken;
}

Rules Model::remap_faults(const op::Remap& op) const {
  Rules broken = partial_faults(op.to, op.range);
  if (g_.ringed() && !slot_of(op.from)) {
    broken.insert(Rule::c9);
  }
  for (Pos i = 0; i < op.range.size(); ++i) {
    const auto target = loc_of(op.to, op.range.begin + i);
    const auto donor = loc_of(op.from, op.from_begin + i);
    if (!target || !donor) {
      broken.insert(Rule::c2);
    }
    if (g_.paired() && target && any_peer(*target / g_.page)) {
      broken.insert(Rule::c1);
    }
    if (g_.paired() && donor && peer(*donor) == 0) {
      broken.insert(Rule::c2);
    }
    if (g_.paired() && donor && holders(*donor / g_.page) > 1) {
      broken.insert(Rule::c3);
    }
  }
  return broken;
}

Rules Model::unmap_faults(const op::Unmap& op) const {
  Rules broken;
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    const auto held = loc_of(op.row, p);
    if (!held) {
      broken.insert(Rule::c2);
    } else if (g_.paired() && peer(*held) != 0) {
      broken.insert(Rule::c1);
    }
  }
  return broken;
}

Rules Model::write_faults(const op::Write& op) const {
  Rules broken;
  if (kv_paused()) {
    broken.insert(Rule::c11);
  }
  if (g_.ringed() && !slot_of(op.row)) {
    broken.insert(Rule::c9);
  }
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    if (!live(op.row, p)) {
      broken.insert(Rule::c2);
    }
  }
  return broken;
}

Rules Model::read_faults(const op::Read& op) const {
  Rules broken;
  if (kv_paused()) {
    broken.insert(Rule::c11);
  }
  if (g_.ringed() && !slot_of(op.row)) {
    broken.insert(Rule::c9);
  }
  for (Pos p = op.range.begin; p < op.range.end; ++p) {
    const auto held = loc_of(op.row, p);
    if (!held || !written(full_kv_, full_, *held)) {
      broken.insert(Rule::c2);
    } else if (full_kv_.at(*held).lost) {
      broken.insert(Rule::c11);
    }
    if (held && g_.hybrid() && p >= op.range.end - g_.window) {
      broken.merge(window_faults(op.row, p));
    }
  }
  return broken;
}

Rules Model::window_faults(Row row, Pos position) const {
  const Loc held = *loc_of(row, position);
  if (g_.ringed()) {
    return ring_faults(row, position);
  }
  const Loc swa = peer(held);
  if (swa == 0 || !written(swa_kv_, swa_, swa)) {
    return {Rule::c2};
  }
  return swa_kv_.at(swa).lost ? Rules{Rule::c11} : Rules{};
}

Rules Model::ring_faults(Row row, Pos position) const {
  if (!slot_of(row)) {
    return {Rule::c9};
  }
  const auto found = ring_kv_.find(ring_row(*slot_of(row), position));
  if (found == ring_kv_.end()) {
    return {Rule::c2};
  }
  const Pos held = found->second.position;
  if (held == position) {
    return found->second.lost ? Rules{Rule::c11} : Rules{};
  }
  return {held < length(row) ? Rule::c2 : Rule::c10};
}

}  // namespace poolproof::naive
