// The machine's state as numbers: all that decides what it will say, and nothing that only words a verdict (which op
// lent a page), nor what nobody can ask for any more (KV that no read can be due).
#include "model/machine_state.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

constexpr std::uint32_t swa_names = 1U << 28U;
constexpr std::uint32_t row_names = 2U << 28U;
constexpr std::uint32_t cell_names = 3U << 28U;
constexpr std::uint32_t snapshot_step = 1U << 24U;  ///< names within one snapshot

void name_pages(const PoolState& p, std::uint32_t first, GenerationNames& names) {
  for (std::size_t page = 1; page < p.pages.size(); ++page) {
    if (p.pages[page].state == PageState::lent) {
      names.give(p.pages[page].generation, first + static_cast<std::uint32_t>(page));
    }
  }
}

void digest_pages(const PoolState& p, StateDigest& out) {
  for (std::size_t page = 1; page < p.pages.size(); ++page) {
    const PageRecord& record = p.pages[page];
    if (record.state != PageState::lent) {
      out.number(static_cast<std::uint64_t>(record.state));
      continue;
    }
    // Who uses the page follows from rows and peers.
    out.number(2U | (record.mixed ? 4U : 0U) | (record.peer_freed_op != 0 ? 8U : 0U) |
               (static_cast<std::uint64_t>(record.base) << 4U) |
               (std::uint64_t{out.names().of(record.generation)} << 32U));
  }
}

void digest_row(const RowState& r, std::int32_t shift, StateDigest& out) {
  out.number(static_cast<std::uint64_t>(r.length) | (static_cast<std::uint64_t>(r.frontier) << 32U));
  const auto held = static_cast<std::size_t>((r.length + (Pos{1} << shift) - 1) >> shift);
  for (std::size_t i = 0; i < held; ++i) {
    out.number(r.pages[i] > 0 ? static_cast<std::uint64_t>(r.pages[i]) : 0);
  }
}

bool idle(const RowState& r) { return r.length == 0 && r.frontier == 0 && r.slot < 0; }

}  // namespace

void Machine::State::name_generations(GenerationNames& names) const {
  name_pages(full, 0, names);
  name_pages(swa, swa_names, names);
  std::uint32_t at = snapshot_step;
  for (const Snapshot& snapshot : snapshots) {
    name_pages(snapshot.full, at, names);
    name_pages(snapshot.swa, swa_names + at, names);
    at += snapshot_step;
  }
  if (!geo.ringed()) {
    return;
  }
  for (const RowState& r : rows) {
    if (r.slot >= 0) {
      names.give(r.generation, row_names + static_cast<std::uint32_t>(r.slot));
    }
  }
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (in_force(i)) {
      names.give(ring[i].generation, cell_names + static_cast<std::uint32_t>(i));
    }
  }
}

/// Was the cell written in the life that its request slot's owner has now?
bool Machine::State::in_force(std::size_t cell) const {
  const std::int64_t owner = slots[cell / static_cast<std::size_t>(geo.ring)].owner;
  return owner >= 0 && ring[cell].life != 0 && ring[cell].life == rows[static_cast<std::size_t>(owner)].life;
}

void Machine::State::digest_stored(const PoolState& p, StateDigest& out) const {
  for (std::size_t page = 1; page < p.pages.size(); ++page) {
    const std::uint32_t name = out.names().of(p.pages[page].stored);
    if (name == 0) {
      continue;
    }
    std::uint64_t bits = 0;
    for (std::size_t slot = page << shift; slot < (page + 1) << shift; ++slot) {
      bits = (bits << 1U) | (p.written.test(slot) ? 1U : 0U);
      if (((slot + 1) & 15U) == 0) {
        out.number(bits);
        bits = 0;
      }
    }
    out.number((static_cast<std::uint64_t>(page) << 48U) | (std::uint64_t{name} << 16U) | bits);
  }
}

void Machine::State::digest(StateDigest& out) const {
  out.number(static_cast<std::uint64_t>(geo.full) | (static_cast<std::uint64_t>(geo.swa) << 32U));
  out.number(static_cast<std::uint64_t>(idle_swa_available) << 1U | (group_open ? 1U : 0U));
  digest_pages(full, out);
  digest_pages(swa, out);
  for (const std::int32_t peer : peers) {
    out.number(static_cast<std::uint64_t>(peer));
  }
  digest_stored(full, out);
  digest_stored(swa, out);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (in_force(i)) {
      out.number((static_cast<std::uint64_t>(i) << 48U) | (std::uint64_t{out.names().of(ring[i].generation)} << 16U) |
                 ring[i].position);
    }
  }
  if (group_open) {
    std::uint64_t touched = 0;
    for (const Page page : group_pages) {
      touched |= std::uint64_t{1} << (static_cast<std::uint64_t>(page) & 63U);
    }
    out.number(touched);
  }
  for (const Snapshot& snapshot : snapshots) {
    out.number(snapshot.name);
    digest_pages(snapshot.full, out);
    digest_pages(snapshot.swa, out);
    for (const std::int32_t peer : snapshot.peers) {
      out.number(static_cast<std::uint64_t>(peer));
    }
  }
  out.number(digest_rows(out.names()));
}

/// The same whatever the rows are called: each row for itself, and their sum.
std::uint64_t Machine::State::digest_rows(const GenerationNames& names) const {
  std::uint64_t sum = 0;
  for (std::size_t id = 0; id < rows.size(); ++id) {
    const RowState& r = rows[id];
    StateDigest own(names);
    bool any = !idle(r);
    if (any) {
      own.number(static_cast<std::uint64_t>(r.slot));
      if (geo.ringed() && r.slot >= 0) {
        own.number(names.of(r.generation));
      }
      digest_row(r, shift, own);
    }
    for (const Snapshot& snapshot : snapshots) {
      if (id < snapshot.rows.size() && (snapshot.rows[id].length != 0 || snapshot.rows[id].frontier != 0)) {
        any = true;
        own.number(std::uint64_t{snapshot.name} + 1);
        digest_row(snapshot.rows[id], shift, own);
      }
    }
    sum += any ? own.value() : 0;
  }
  return sum;
}

void Machine::name_generations(GenerationNames& names) const { state_->name_generations(names); }
void Machine::digest(StateDigest& out) const { state_->digest(out); }

}  // namespace poolproof
