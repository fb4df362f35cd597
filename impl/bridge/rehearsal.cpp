#include "impl/bridge/rehearsal.hpp"

#include <algorithm>
#include <utility>

namespace poolproof {
Rehearsal::Rehearsal(const Geometry& geometry, const Offers& offers, std::unique_ptr<Allocator> stand_in)
    : geo_(geometry), offers_(offers), stand_in_(std::move(stand_in)) {}

std::vector<Call> Rehearsal::take() {
  taken_ = std::exchange(handouts_, {});
  size_ = 0;
  ++script_number_;
  return std::exchange(script_, {});
}

void Rehearsal::learn(std::span<const Reply> replies) {
  for (const Handout& handout : taken_) {
    const auto call = static_cast<std::size_t>(handout.call);
    if (call >= replies.size()) {
      break;  // it raised before; the run ends there
    }
    learn(names_, handout, replies[call]);
    for (auto& [key, names] : snapshots_) {
      learn(names, handout, replies[call]);
    }
  }
  taken_.clear();
}

void Rehearsal::learn(Names& names, const Handout& handout, const Reply& reply) {
  Origins& table = origins(names, handout.kind);
  for (std::size_t i = 0; i < handout.ours.size(); ++i) {
    const auto at = static_cast<std::size_t>(handout.ours[i]);
    if (handout.ours[i] <= 0 || at >= table.size()) {
      continue;
    }
    Origin& origin = table[at];
    if (origin.script == handout.script && origin.call == handout.call) {
      const bool slot = handout.kind == Kind::slot;
      origin.theirs = slot ? reply.slot : (i < reply.locs.size() ? reply.locs[i] : 0);
    }
  }
}

Rehearsal::Origins& Rehearsal::origins(Names& names, Kind kind) {
  switch (kind) {
    case Kind::full:
      return names.full;
    case Kind::swa:
      return names.swa;
    case Kind::slot:
      break;
  }
  return names.slots;
}

Call& Rehearsal::note(Method method) {
  ++size_;
  script_.emplace_back().method = method;
  return script_.back();
}

/// The call noted last handed these out. A page's first slot begins its lending.
void Rehearsal::hand_out(Kind kind, std::span<const Loc> ours) {
  const auto call = static_cast<std::int32_t>(script_.size()) - 1;
  Origins& table = origins(names_, kind);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] <= 0) {
      continue;  // no peer
    }
    const auto at = static_cast<std::size_t>(ours[i]);
    const auto page = static_cast<std::size_t>(kind == Kind::full ? geo_.page : 1);
    const std::size_t head = at / page * page;
    if (table.size() <= at) {
      table.resize(head + page);
    }
    const std::uint64_t lending = at == head ? ++lendings_ : table[head].lending;
    table[at] = {script_number_, call, static_cast<Loc>(i), 0, lending};
  }
  handouts_.push_back({script_number_, call, kind, Locs(ours.begin(), ours.end())});
}

void Rehearsal::append_full(LocRuns& runs, Loc ours) {
  const Origins& table = names_.full;
  const auto at = static_cast<std::size_t>(ours);
  if (ours <= 0 || at >= table.size()) {
    return append_loc(runs, ours);
  }
  const Origin& own = table[at];
  const Loc shift = ours % geo_.page;
  const Origin& head = table[at - static_cast<std::size_t>(shift)];
  if (own.lending != head.lending) {  // nobody holds it: it is named by the page's first slot
    return head.script == script_number_ ? append_shifted(runs, head.call, head.index, shift)
                                         : append_loc(runs, head.theirs + shift);
  }
  return own.script == script_number_ ? append_loc(runs, own.index, own.call) : append_loc(runs, own.theirs);
}

LocRuns Rehearsal::full_runs(std::span<const Loc> ours) {
  LocRuns runs;
  for (const Loc loc : ours) {
    append_full(runs, loc);
  }
  size_ += runs.size();
  return runs;
}

/// SWA locs to set: lent ones, or with a ring the rows of a request slot taken in an earlier script.
LocRuns Rehearsal::peers_of(std::span<const Loc> swa) {
  LocRuns runs;
  for (const Loc loc : swa) {
    if (geo_.ringed()) {
      append_loc(runs, slot_of(loc / geo_.ring).slot * geo_.ring + loc % geo_.ring);
      continue;
    }
    const Origin& origin = names_.swa[static_cast<std::size_t>(loc)];
    if (origin.script == script_number_) {
      append_loc(runs, origin.index, origin.call);
    } else {
      append_loc(runs, origin.theirs);
    }
  }
  size_ += runs.size();
  return runs;
}

SlotRef Rehearsal::slot_of(std::int64_t slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (slot <= 0 || at >= names_.slots.size()) {
    return {slot, LocRun::literal};
  }
  const Origin& origin = names_.slots[at];
  return origin.script == script_number_ ? SlotRef{-1, origin.call} : SlotRef{origin.theirs, LocRun::literal};
}

Answer Rehearsal::lent(Answer answer, const Locs& out) {
  script_.back().rehearsed = answer;
  if (answer == Answer::served) {
    hand_out(Kind::full, out);
  }
  return answer;
}

Answer Rehearsal::alloc(Tokens tokens, Locs& out) {
  note(Method::alloc).first = tokens;
  return lent(stand_in_->alloc(tokens, out), out);
}

Answer Rehearsal::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                               std::span<const Loc> last_locs, Locs& out) {
  LocRuns last = full_runs(last_locs);
  Call& call = note(Method::alloc_extend);
  call.prefix_lens.assign(prefix_lens.begin(), prefix_lens.end());
  call.seq_lens.assign(seq_lens.begin(), seq_lens.end());
  call.locs = std::move(last);
  return lent(stand_in_->alloc_extend(prefix_lens, seq_lens, last_locs, out), out);
}

Answer Rehearsal::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  LocRuns last = full_runs(last_locs);
  Call& call = note(Method::alloc_decode);
  call.seq_lens.assign(seq_lens.begin(), seq_lens.end());
  call.locs = std::move(last);
  return lent(stand_in_->alloc_decode(seq_lens, last_locs, out), out);
}

Answer Rehearsal::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                        Locs& out) {
  LocRuns last = full_runs({&last_loc, 1});
  Call& call = note(Method::alloc_extend_swa_tail);
  call.prefix_lens = {prefix_len};
  call.seq_lens = {seq_len};
  call.locs = std::move(last);
  call.first = tail_len;
  call.second = tail_end;
  return lent(stand_in_->alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, out), out);
}

Answer Rehearsal::free(Side side, std::span<const Loc> locs) {
  LocRuns runs = full_runs(locs);
  note(free_method(side)).locs = std::move(runs);
  return stand_in_->free(side, locs);
}

Answer Rehearsal::free_segments(Side side, std::span<const Segment> segments) {
  std::vector<SegmentRuns> noted;
  for (const Segment& segment : segments) {
    noted.push_back({full_runs(segment.locs), segment.start_pos});
  }
  note(free_segments_method(side)).segments = std::move(noted);
  return stand_in_->free_segments(side, segments);
}

Answer Rehearsal::free_group_begin() {
  note(Method::free_group_begin).again = group_open_;
  group_open_ = true;
  return stand_in_->free_group_begin();
}

Answer Rehearsal::free_group_end() {
  note(Method::free_group_end).again = !group_open_;
  group_open_ = false;
  return stand_in_->free_group_end();
}

Answer Rehearsal::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  LocRuns targets = full_runs(full);
  LocRuns peers = peers_of(swa);
  Call& call = note(Method::set_full_to_swa_mapping);
  call.locs = std::move(targets);
  call.swa = std::move(peers);
  return stand_in_->set_full_to_swa_mapping(full, swa);
}

Answer Rehearsal::clear_full_to_swa_mapping(std::span<const Loc> full) {
  LocRuns runs = full_runs(full);
  note(Method::clear_full_to_swa_mapping).locs = std::move(runs);
  return stand_in_->clear_full_to_swa_mapping(full);
}

Answer Rehearsal::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  LocRuns runs = full_runs(full);
  note(Method::translate).locs = std::move(runs);
  const Answer answer = stand_in_->translate_loc_from_full_to_swa(full, out);
  if (answer == Answer::served && geo_.paired()) {
    hand_out(Kind::swa, out);
  }
  return answer;
}

Answer Rehearsal::clear() {
  note(Method::clear);
  snapshots_.clear();
  group_open_ = false;
  return stand_in_->clear();
}

Answer Rehearsal::resize(Tokens full, Tokens swa) {
  Call& call = note(Method::resize);
  call.first = full;
  call.second = swa;
  snapshots_.clear();
  group_open_ = false;
  return stand_in_->resize(full, swa);
}

Answer Rehearsal::backup_state(std::uint32_t key) {
  note(Method::backup_state).first = key;
  snapshots_[key] = names_;
  return stand_in_->backup_state(key);
}

Answer Rehearsal::restore_state(std::uint32_t key) {
  note(Method::restore_state).first = key;
  if (const auto found = snapshots_.find(key); found != snapshots_.end()) {
    names_.full = found->second.full;
    names_.swa = found->second.swa;
  }
  return stand_in_->restore_state(key);
}

Answer Rehearsal::take_slot(std::int64_t& slot) {
  const Answer answer = stand_in_->take_slot(slot);
  if (offered(Offer::slots)) {
    note(Method::take_slot).rehearsed = answer;
    if (answer == Answer::served) {
      hand_out(Kind::slot, {&slot, 1});
    }
  }
  return answer;
}

Answer Rehearsal::give_slot(std::int64_t slot) {
  if (offered(Offer::slots)) {
    const SlotRef ref = slot_of(slot);
    note(Method::give_slot).slot = ref;
  }
  return stand_in_->give_slot(slot);
}

// Where the implementation keeps no stamps, poolproof does; for the sliding layers it needs the mapping then.

Answer Rehearsal::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  if (offered(Offer::stamps)) {
    LocRuns runs = full_runs(full_locs);
    Call& call = note(Method::write_full);
    call.locs = std::move(runs);
    call.stamps.assign(stamps.begin(), stamps.end());
  }
  return stand_in_->write_full(full_locs, stamps);
}

Answer Rehearsal::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  if (offered(Offer::stamps)) {
    LocRuns runs = full_runs(full_locs);
    note(Method::read_full).locs = std::move(runs);
  }
  return stand_in_->read_full(full_locs, out);
}

void Rehearsal::note_translation(std::span<const Loc> full) {
  if (geo_.paired()) {
    LocRuns runs = full_runs(full);
    note(Method::translate).locs = std::move(runs);
  }
}

Answer Rehearsal::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                            std::span<const Stamp> stamps) {
  if (offered(Offer::stamps)) {
    LocRuns runs = full_runs(full_locs);
    const SlotRef ref = slot_of(slot);
    Call& call = note(Method::write_swa);
    call.locs = std::move(runs);
    call.slot = ref;
    call.first = first_pos;
    call.stamps.assign(stamps.begin(), stamps.end());
  } else {
    note_translation(full_locs);
  }
  return stand_in_->write_swa(full_locs, slot, first_pos, stamps);
}

Answer Rehearsal::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) {
  if (offered(Offer::stamps)) {
    LocRuns runs = full_runs(full_locs);
    const SlotRef ref = slot_of(slot);
    Call& call = note(Method::read_swa);
    call.locs = std::move(runs);
    call.slot = ref;
    call.first = first_pos;
  } else {
    note_translation(full_locs);
  }
  return stand_in_->read_swa(full_locs, slot, first_pos, out);
}

Answer Rehearsal::gauges(Gauges& out) {
  note(Method::gauges);
  return stand_in_->gauges(out);
}

Answer Rehearsal::census(Census& out) {
  if (!offered(Offer::census)) {
    return Answer::refused;
  }
  note(Method::census);
  return stand_in_->census(out);
}

}  // namespace poolproof
