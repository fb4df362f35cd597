#include "props/shadow.hpp"

#include <algorithm>

namespace poolproof {
namespace {

Range intersect(Range a, Range b) {
  const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.begin < both.end ? both : Range{};
}

bool contains(Range outer, Range inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

/// `known` with `fresh` added where the two touch, else `fresh` alone.
Range grown(Range known, Range fresh) {
  if (known.size() == 0 || fresh.begin > known.end || fresh.end < known.begin) {
    return fresh;
  }
  return {std::min(known.begin, fresh.begin), std::max(known.end, fresh.end)};
}

}  // namespace

void Shadow::wipe() {
  world_.rows.clear();
  world_.memos.assign(1, {});
  world_.spare.clear();
  world_.next_bond = 1;
  snapshots_.clear();
  changes_ = 0;
}

void Shadow::apply(const Op& op, const Machine& machine) {
  std::visit([&](const auto& one) { take(one, machine); }, op);
}

PageId Shadow::page_id(Row id, std::int64_t index) const {
  return index < row_pages(id) ? row(id).pages[static_cast<std::size_t>(index)] : 0;
}

Range Shadow::page_range(Row id, std::int64_t index) const {
  return {index * geo_.page, std::min((index + 1) * geo_.page, row(id).length)};
}

Pos Shadow::live_from(Row id, Pos end) const {
  std::int64_t index = geo_.pages_of(end);
  while (index > 0 && page_id(id, index - 1) != 0) {
    --index;
  }
  return std::min(index * geo_.page, end);
}

Pos Shadow::readable_from(Row id, Pos end) const {
  const RowMemo& r = row(id);
  const Pos window_begin = geo_.sliding() ? end - geo_.window : end;
  Pos from = end;
  while (from > 0) {
    const std::int64_t index = (from - 1) / geo_.page;
    const PageId page = page_id(id, index);
    if (page == 0) {
      return from;
    }
    PageMemo seen = memo(page);
    if (!geo_.paired()) {
      seen.swa_written = geo_.ringed() ? r.ring : seen.written;
    }
    const Pos low = page_readable_from(seen, {index * geo_.page, from}, window_begin);
    if (low != index * geo_.page) {
      return low;
    }
    from = low;
  }
  return from;
}

Pos Shadow::page_readable_from(const PageMemo& page, Range range, Pos window_begin) const {
  if (page.written.end < range.end || page.written.begin >= range.end) {
    return range.end;
  }
  Pos low = std::max(range.begin, page.written.begin);
  if (range.end > window_begin) {
    if (page.swa_written.end < range.end || page.swa_written.begin >= range.end) {
      return range.end;
    }
    if (page.swa_written.begin > window_begin) {
      low = std::max(low, page.swa_written.begin);
    }
  }
  return low;
}

RowMemo& Shadow::touch(Row id) {
  if (id >= world_.rows.size()) {
    world_.rows.resize(id + 1);
  }
  return world_.rows[id];
}

PageMemo& Shadow::memo_of(const RowMemo& r, std::int64_t index) {
  return world_.memos[r.pages[static_cast<std::size_t>(index)]];
}

void Shadow::lend(Row id, Range range) {
  RowMemo& r = touch(id);
  r.write_from = std::min(r.write_from, range.begin);
  r.length = range.end;
  const std::int64_t pages = geo_.pages_of(range.end);
  while (static_cast<std::int64_t>(r.pages.size()) < pages) {
    PageId page = 0;
    if (world_.spare.empty()) {
      page = static_cast<PageId>(world_.memos.size());
      world_.memos.emplace_back();
    } else {
      page = world_.spare.back();
      world_.spare.pop_back();
      world_.memos[page] = {};
    }
    world_.memos[page].holders = 1;
    r.pages.push_back(page);
  }
  ++changes_;
}

void Shadow::let_go(Row id, Range range) {
  RowMemo& r = touch(id);
  for (std::int64_t index = range.begin / geo_.page; index < geo_.pages_of(range.end); ++index) {
    const PageId page = page_id(id, index);
    if (page == 0) {
      continue;
    }
    r.pages[static_cast<std::size_t>(index)] = 0;
    if (--world_.memos[page].holders == 0) {
      world_.spare.push_back(page);
    }
  }
  shorten(r);
  ++changes_;
}

void Shadow::shorten(RowMemo& r) {
  while (!r.pages.empty() && r.pages.back() == 0) {
    r.pages.pop_back();
  }
  r.length = std::min(r.length, static_cast<Pos>(r.pages.size()) * geo_.page);
  r.write_from = std::min(r.write_from, r.length);
  r.ring = intersect(r.ring, {0, r.length});
}

void Shadow::forget_swa(Row id, Range range) {
  for (std::int64_t index = range.begin / geo_.page; index < geo_.pages_of(range.end); ++index) {
    const PageId page = page_id(id, index);
    if (page != 0) {
      world_.memos[page].swa_written = {};
      world_.memos[page].bond = 0;
      world_.memos[page].outside_tail = false;
    }
  }
}

void Shadow::release(Side side, const Piece& piece) {
  if (geo_.layout == Layout::pure_swa) {
    if (side != Side::full) {
      let_go(piece.row, piece.range);
    }
    return;
  }
  if (side != Side::swa) {
    let_go(piece.row, piece.range);
  } else if (geo_.paired()) {
    forget_swa(piece.row, piece.range);
    ++changes_;
  }
}

void Shadow::take(const op::SlotTake& op, const Machine& machine) {
  if (!machine.last_refused()) {
    touch(op.row).slot = true;
    touch(op.row).ring = {};
  }
}

void Shadow::take(const op::SlotGive& op, const Machine& /*machine*/) {
  touch(op.row).slot = false;
  touch(op.row).ring = {};
}

void Shadow::take(const op::Alloc& op, const Machine& machine) {
  if (!machine.last_refused()) {
    lend(op.row, op.range);
  }
}

void Shadow::take(const op::Extend& op, const Machine& machine) {
  if (machine.last_refused()) {
    return;
  }
  for (const Piece& piece : op.pieces) {
    lend(piece.row, piece.range);
  }
}

void Shadow::take(const op::Decode& op, const Machine& machine) {
  if (machine.last_refused()) {
    return;
  }
  for (const Row id : op.rows) {
    const Pos length = row(id).length;
    lend(id, {length, length + 1});
  }
}

void Shadow::take(const op::Tail& op, const Machine& machine) {
  if (!machine.last_refused()) {
    lend(op.row, op.range);
    mark_outside(op);
  }
}

/// New pages that no SWA peer was asked for.
void Shadow::mark_outside(const op::Tail& op) {
  for (std::int64_t index = geo_.pages_of(op.range.begin); index < geo_.pages_of(op.range.end); ++index) {
    const Range page = page_range(op.row, index);
    world_.memos[page_id(op.row, index)].outside_tail = page.end <= op.swa.begin || page.begin >= op.swa.end;
  }
}

void Shadow::take(const op::Free& op, const Machine& /*machine*/) {
  for (const Piece& piece : op.pieces) {
    release(op.side, piece);
  }
}

void Shadow::take(const op::FreeSegment& op, const Machine& /*machine*/) {
  for (const Range& range : op.ranges) {
    release(op.side, {op.row, range});
  }
}

void Shadow::take(const op::Copy& op, const Machine& /*machine*/) {
  touch(std::max(op.to, op.from));
  RowMemo& to = world_.rows[op.to];
  const RowMemo& from = world_.rows[op.from];
  for (std::int64_t index = op.range.begin / geo_.page; index < geo_.pages_of(op.range.end); ++index) {
    const PageId page = from.pages[static_cast<std::size_t>(index)];
    ++world_.memos[page].holders;
    to.pages.push_back(page);
  }
  to.length = op.range.end;
  // A shared prefix is there already: what this row writes next begins behind it.
  to.write_from = op.range.end;
}

void Shadow::take(const op::Drop& op, const Machine& /*machine*/) { let_go(op.row, op.range); }

void Shadow::take(const op::Trim& op, const Machine& /*machine*/) {
  RowMemo& r = touch(op.row);
  r.length = op.length;
  shorten(r);
  PageMemo& last = memo_of(r, static_cast<std::int64_t>(r.pages.size()) - 1);
  last.written = intersect(last.written, {0, op.length});
  last.swa_written = intersect(last.swa_written, {0, op.length});
  ++changes_;
}

void Shadow::take(const op::Remap& op, const Machine& /*machine*/) {
  if (!geo_.paired()) {
    return;
  }
  const bool whole_pages = op.from_begin % geo_.page == 0 && op.range.size() % geo_.page == 0;
  if (!whole_pages) {
    join(op);
  }
  move_written(op);
  ++changes_;
}

/// Donor and target pages share SWA pages from here on, at worst: they get one bond, and so does whatever they were
/// bound to already.
void Shadow::join(const op::Remap& op) {
  std::vector<std::uint32_t> old;
  std::vector<PageId> pages;
  const auto add = [&](Row id, Pos begin, Pos end) {
    for (std::int64_t index = begin / geo_.page; index < geo_.pages_of(end); ++index) {
      const PageId page = page_id(id, index);
      pages.push_back(page);
      if (world_.memos[page].bond != 0) {
        old.push_back(world_.memos[page].bond);
      }
    }
  };
  add(op.to, op.range.begin, op.range.end);
  add(op.from, op.from_begin, op.from_begin + op.range.size());
  const std::uint32_t bond = world_.next_bond++;
  for (PageMemo& page : world_.memos) {
    if (std::find(old.begin(), old.end(), page.bond) != old.end()) {
      page.bond = bond;
    }
  }
  for (const PageId page : pages) {
    world_.memos[page].bond = bond;
  }
}

bool Shadow::swa_written(Row id, Range range) const {
  for (std::int64_t index = range.begin / geo_.page; index < geo_.pages_of(range.end); ++index) {
    if (!contains(memo(page_id(id, index)).swa_written, intersect(page_range(id, index), range))) {
      return false;
    }
  }
  return true;
}

/// The target reads what the donor's SWA slots hold; the donor reads nothing there any more.
void Shadow::move_written(const op::Remap& op) {
  const Range donor{op.from_begin, op.from_begin + op.range.size()};
  const bool known = swa_written(op.from, donor);
  for (std::int64_t index = donor.begin / geo_.page; index < geo_.pages_of(donor.end); ++index) {
    world_.memos[page_id(op.from, index)].swa_written = {};
  }
  for (std::int64_t index = op.range.begin / geo_.page; index < geo_.pages_of(op.range.end); ++index) {
    PageMemo& page = world_.memos[page_id(op.to, index)];
    page.swa_written = known ? intersect(page_range(op.to, index), op.range) : Range{};
    page.outside_tail = false;
  }
}

void Shadow::take(const op::Unmap& /*op*/, const Machine& /*machine*/) {}

void Shadow::take(const op::Write& op, const Machine& machine) {
  RowMemo& r = touch(op.row);
  for (std::int64_t index = op.range.begin / geo_.page; index < geo_.pages_of(op.range.end); ++index) {
    write_page(op.row, index, intersect(page_range(op.row, index), op.range), machine);
  }
  if (geo_.ringed()) {
    write_ring(r, op.range);
  }
  if (op.range.begin <= r.write_from) {
    r.write_from = std::max(r.write_from, op.range.end);
  }
}

void Shadow::write_page(Row id, std::int64_t index, Range range, const Machine& machine) {
  PageMemo& page = world_.memos[page_id(id, index)];
  page.written = grown(page.written, range);
  if (!geo_.paired()) {
    return;
  }
  // Positions without a peer go to the padding slot: only a run of live peers counts.
  Range peered = range;
  while (peered.size() > 0 && !machine.row_peer_live(id, peered.begin)) {
    ++peered.begin;
  }
  while (peered.size() > 0 && !machine.row_peer_live(id, peered.end - 1)) {
    --peered.end;
  }
  if (peered.size() > 0) {
    page.swa_written = grown(page.swa_written, peered);
  }
}

/// A write of x takes the cell of x - ring and of x + ring. Continuing a run keeps its newest `ring` positions; any
/// other write leaves its own alone.
void Shadow::write_ring(RowMemo& r, Range range) const {
  if (r.ring.size() > 0 && r.ring.begin <= range.begin && range.begin <= r.ring.end) {
    r.ring.end = std::max(r.ring.end, range.end);
    r.ring.begin = std::max(r.ring.begin, r.ring.end - geo_.ring);
  } else {
    r.ring = {std::max(range.begin, range.end - geo_.ring), range.end};
  }
}

void Shadow::take(const op::Read& /*op*/, const Machine& /*machine*/) {}
void Shadow::take(const op::GroupBegin& /*op*/, const Machine& /*machine*/) {}
void Shadow::take(const op::GroupEnd& /*op*/, const Machine& /*machine*/) {}
void Shadow::take(const op::Expect& /*op*/, const Machine& /*machine*/) {}

void Shadow::take(const op::Backup& op, const Machine& /*machine*/) {
  std::erase_if(snapshots_, [&](const Snapshot& one) { return one.name == op.name; });
  snapshots_.push_back({op.name, changes_, world_});
}

void Shadow::take(const op::Restore& op, const Machine& /*machine*/) {
  const auto found =
      std::find_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& one) { return one.name == op.name; });
  std::vector<RowMemo> before = std::move(world_.rows);
  world_ = found->world;
  world_.rows.resize(std::max(world_.rows.size(), before.size()));
  before.resize(world_.rows.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    world_.rows[i].slot = before[i].slot;
    world_.rows[i].ring = {};
  }
  if (found->changes != changes_) {
    forget_kv();
  }
}

void Shadow::forget_kv() {
  for (PageMemo& page : world_.memos) {
    page.written = {};
    page.swa_written = {};
  }
  for (RowMemo& r : world_.rows) {
    r.write_from = 0;
  }
  ++changes_;
}

void Shadow::take(const op::Clear& /*op*/, const Machine& /*machine*/) { wipe(); }
void Shadow::take(const op::Resize& /*op*/, const Machine& /*machine*/) { wipe(); }
void Shadow::take(const op::Destroy& /*op*/, const Machine& /*machine*/) { wipe(); }
void Shadow::take(const op::Build& /*op*/, const Machine& /*machine*/) { wipe(); }
void Shadow::take(const op::Flush& /*op*/, const Machine& /*machine*/) { wipe(); }
void Shadow::take(const op::Resume& /*op*/, const Machine& /*machine*/) {}

void Shadow::take(const op::Pause& op, const Machine& machine) {
  if (geo_.kv.saver != SaverMode::on || machine.last_refused() || !names_tag(op.tag, MemoryTag::kv_cache)) {
    return;
  }
  forget_kv();
  for (RowMemo& r : world_.rows) {
    r.ring = {};
  }
}

}  // namespace poolproof
