#include "model/machine.hpp"

#include "model/machine_state.hpp"

namespace poolproof {

void SlotBits::clear(std::size_t first, std::size_t count) {
  while (count > 0) {
    const std::size_t bit = first & 63U;
    const std::size_t run = std::min<std::size_t>(64 - bit, count);
    const std::uint64_t ones = run == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << run) - 1);
    words_[first >> 6U] &= ~(ones << bit);
    first += run;
    count -= run;
  }
}

void SlotBits::set(std::size_t first, std::size_t count) {
  while (count > 0) {
    const std::size_t bit = first & 63U;
    const std::size_t run = std::min<std::size_t>(64 - bit, count);
    const std::uint64_t ones = run == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << run) - 1);
    words_[first >> 6U] |= ones << bit;
    first += run;
    count -= run;
  }
}

void PoolState::assign(std::int64_t page_count, Tokens page) {
  pages.assign(static_cast<std::size_t>(page_count) + 1, PageRecord{});
  free_pages = page_count;
  deferred.clear();
  written.assign(static_cast<std::size_t>((page_count + 1) * page));
  lost_before = 0;
}

void Machine::State::reset(const Geometry& geometry) {
  geo = geometry;
  shift = 0;
  while ((Tokens{1} << shift) < geo.page) {
    ++shift;
  }
  ledger.clear();
  generations = 0;
  ops_done = 0;
  touch = 0;
  refused = false;
  restored = false;
  idle_swa_available = 0;
  for (RowState& r : rows) {
    r.pages.clear();
    r = RowState{.pages = std::move(r.pages)};
  }
  reset_pools();
  memory = {};
  memory.plan = planned_buffers(geo);
}

void Machine::State::reset_pools() {
  full.assign(geo.full_pages(), geo.page);
  swa.assign(geo.paired() ? geo.swa_pages() : 0, geo.page);
  peers.assign(geo.hybrid() ? static_cast<std::size_t>(geo.full + geo.page) : 0, 0);
  slots.assign(static_cast<std::size_t>(geo.reqs) + 1, SlotState{});
  slots_free = geo.reqs;
  ring.assign(static_cast<std::size_t>((geo.reqs + 1) * geo.ring), RingCell{});
  snapshots.clear();
  group_open = false;
  group_pages.clear();
  touched_full.clear();
  touched_swa.clear();
}

void Machine::State::append_locs(const RowState& r, Range range, Locs& out) const {
  for (Pos pos = range.begin; pos < range.end;) {
    const Pos run_end = std::min(range.end, (pos | (geo.page - 1)) + 1);
    const Loc first = loc_of(r, pos);
    const std::size_t at = out.size();
    const auto count = static_cast<std::size_t>(run_end - pos);
    out.resize(at + count);
    for (std::size_t i = 0; i < count; ++i) {
      out[at + i] = first + static_cast<Loc>(i);
    }
    pos = run_end;
  }
}

void Machine::State::append_page_locs(Page which, Locs& out) const {
  const Loc first = static_cast<Loc>(which) << shift;
  const std::size_t at = out.size();
  const auto count = static_cast<std::size_t>(geo.page);
  out.resize(at + count);
  for (std::size_t i = 0; i < count; ++i) {
    out[at + i] = first + static_cast<Loc>(i);
  }
}

Machine::Machine(const Geometry& geometry, std::size_t life_events) : state_(std::make_unique<State>(life_events)) {
  state_->reset(geometry);
}
Machine::~Machine() = default;
Machine::Machine(const Machine& other) : state_(std::make_unique<State>(*other.state_)) {}
Machine& Machine::operator=(const Machine& other) {
  if (this != &other) {
    *state_ = *other.state_;
  }
  return *this;
}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

void Machine::reset(const Geometry& geometry) { state_->reset(geometry); }

std::optional<Verdict> Machine::begin(const Gauges& fresh) {
  state_->idle_swa_available = fresh.swa_pool_available;
  std::optional<Verdict> fault = state_->check_gauges(nullptr, fresh);
  if (fault) {
    fault->op = 0;
  }
  return fault;
}

namespace {

/// Ops that an allocator may refuse: lending, request slots, and the probes of a group's state.
bool may_be_refused(const Op& op) {
  switch (word_of(op)) {
    case OpWord::slot:
    case OpWord::alloc:
    case OpWord::extend:
    case OpWord::decode:
    case OpWord::tail:
    case OpWord::group_begin_again:
    case OpWord::group_end_again:
    case OpWord::expect:
    case OpWord::pause:
    case OpWord::resume:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Verdict> Machine::State::unexpected_refusal(const Op& op) const {
  if (may_be_refused(op)) {
    return std::nullopt;
  }
  return verdict(Invariant::served_when_fits, 0, "the op always fits and was refused", "served", "refused");
}

std::optional<Verdict> Machine::admit(const Op& op, Plan& plan) {
  State& state = *state_;
  ++state.touch;
  plan.op = state.op();
  plan.fits = true;
  plan.probes.clear();
  state.touched_full.clear();
  state.touched_swa.clear();
  if (std::optional<Verdict> fault = state.admit_built(op)) {
    return fault;
  }
  return std::visit([&](const auto& concrete) { return state.admit(concrete, plan); }, op);
}

bool Machine::admits(const Op& op) {
  State& state = *state_;
  return !admit(op, state.trial).has_value();
}

std::optional<Verdict> Machine::observe(const Op& op, const Plan& plan, const Observation& seen) {
  State& state = *state_;
  if (!std::holds_alternative<op::Expect>(op)) {
    state.refused = seen.answer == Answer::refused;
  }
  state.word = word_of(op);
  std::optional<Verdict> fault = state.refused ? state.unexpected_refusal(op) : std::nullopt;
  if (!fault) {
    fault = std::visit([&](const auto& concrete) { return state.observe(concrete, plan, seen); }, op);
  }
  if (!fault) {
    fault = state.check_gauges(&op, seen.gauges);
  }
  state.restored = std::holds_alternative<op::Restore>(op);
  ++state.ops_done;
  return fault;
}

std::optional<Verdict> Machine::census(const Census& seen) { return state_->census(seen); }

OpIndex Machine::next_op() const { return state_->op(); }
const Geometry& Machine::geometry() const { return state_->geo; }
Tokens Machine::full_size() const { return state_->geo.full; }
Tokens Machine::swa_size() const { return state_->geo.swa; }
std::int64_t Machine::full_free_pages() const { return state_->full.free_pages; }
std::int64_t Machine::swa_free_pages() const { return state_->swa.free_pages; }
std::int64_t Machine::full_deferred_pages() const { return static_cast<std::int64_t>(state_->full.deferred.size()); }
std::int64_t Machine::swa_deferred_pages() const { return static_cast<std::int64_t>(state_->swa.deferred.size()); }
std::int64_t Machine::slots_free() const { return state_->slots_free; }
bool Machine::group_open() const { return state_->group_open; }
bool Machine::built() const { return state_->memory.built; }
bool Machine::paused(MemoryTag tag) const { return state_->tag_is(tag, true); }
bool Machine::resident(MemoryTag tag) const { return state_->tag_is(tag, false); }
bool Machine::last_refused() const { return state_->refused; }

bool Machine::has_backup(std::uint32_t name) const {
  return std::any_of(state_->snapshots.begin(), state_->snapshots.end(),
                     [name](const Snapshot& snapshot) { return snapshot.name == name; });
}

Row Machine::row_limit() const { return static_cast<Row>(state_->rows.size()); }

Pos Machine::row_length(Row row) const {
  const RowState* r = state_->find_row(row);
  return r == nullptr ? 0 : r->length;
}

bool Machine::row_has_slot(Row row) const {
  const RowState* r = state_->find_row(row);
  return r != nullptr && r->slot >= 0;
}

bool Machine::row_live(Row row, Pos position) const {
  const RowState* r = state_->find_row(row);
  return r != nullptr && state_->live(*r, position);
}

bool Machine::row_peer_live(Row row, Pos position) const {
  const RowState* r = state_->find_row(row);
  return state_->geo.paired() && r != nullptr && state_->live(*r, position) &&
         state_->peers[static_cast<std::size_t>(state_->loc_of(*r, position))] != 0;
}

std::int64_t Machine::row_holders(Row row, Pos position) const {
  const RowState* r = state_->find_row(row);
  return r != nullptr && state_->live(*r, position) ? state_->full.at(r->pages[state_->index_of(position)]).users : 0;
}

Pos Machine::row_frontier(Row row) const {
  const RowState* r = state_->find_row(row);
  return r == nullptr ? 0 : r->frontier;
}

}  // namespace poolproof
