#include "impl/bridge/external_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impl/bridge/wire.hpp"
#include "impl/host/host_kv_store.hpp"

namespace poolproof {
namespace {

Call call_of(Method method) {
  Call call;
  call.method = method;
  return call;
}

Call loc_call(Method method, std::span<const Loc> locs) {
  Call call = call_of(method);
  call.locs = literal_runs(locs);
  return call;
}

/// The offer behind a free; both are numbered by side.
Offer free_offer(Side side) {
  return static_cast<Offer>(static_cast<unsigned>(Offer::free) + static_cast<unsigned>(side));
}
Offer free_segments_offer(Side side) {
  return static_cast<Offer>(static_cast<unsigned>(Offer::free_segments) + static_cast<unsigned>(side));
}

/// References replaced by what was answered; those into nothing are left out, which shows as another call.
LocRuns resolved(const LocRuns& runs, std::span<const Reply> replies) {
  LocRuns out;
  each_loc(runs, replies, [&](Loc loc) { append_loc(out, loc); });
  return out;
}

void resolve(Call& call, std::span<const Reply> replies) {
  call.locs = resolved(call.locs, replies);
  call.swa = resolved(call.swa, replies);
  for (SegmentRuns& segment : call.segments) {
    segment.locs = resolved(segment.locs, replies);
  }
  if (call.slot.of != LocRun::literal && static_cast<std::size_t>(call.slot.of) < replies.size()) {
    call.slot = {replies[static_cast<std::size_t>(call.slot.of)].slot, LocRun::literal};
  }
}

}  // namespace

ExternalAllocator::ExternalAllocator(std::shared_ptr<ExternalSession> session, const Geometry& geometry,
                                     const Offers& offers)
    : session_(std::move(session)), geo_(geometry), offers_(offers), slots_(geometry.reqs) {
  size_stores();
}

/// Stamps are kept here unless the implementation keeps them.
void ExternalAllocator::size_stores() {
  if (offered(Offer::stamps)) {
    return;
  }
  full_rows_ = geo_.full + geo_.page;
  full_kv_ = std::make_unique<HostKvStore>(full_rows_);
  if (geo_.hybrid()) {
    swa_rows_ = geo_.ringed() ? (geo_.reqs + 1) * geo_.ring : geo_.swa + geo_.page;
    swa_kv_ = std::make_unique<HostKvStore>(swa_rows_);
  }
}

// ---- asking

Answer ExternalAllocator::fail(std::string why, std::optional<Breakdown> breakdown) {
  failure_ = std::move(why);
  breakdown_ = std::move(breakdown);
  foreseen_.clear();
  return Answer::failed;
}

Answer ExternalAllocator::garbled(const std::string& why) {
  return fail(fmt::format("its answer is none: {}", why), Breakdown{BreakdownKind::garbled, {}});
}

Answer ExternalAllocator::settle(Reply reply) {
  reply_ = std::move(reply);
  if (reply_.answer != Answer::failed) {
    return reply_.answer;
  }
  const RaisedError& error = *reply_.error;
  const std::string where = error.where.empty() ? "" : fmt::format(" at {}", error.where);
  return fail(fmt::format("{}{}{}{}", error.type, where, error.text.empty() ? "" : ": ", error.text),
              Breakdown{BreakdownKind::raised, error.type + where});
}

Answer ExternalAllocator::ask(Call call) {
  if (!failure_.empty()) {
    return Answer::failed;  // nothing can be said any more
  }
  if (!foreseen_.empty()) {
    return answer_foreseen(call);
  }
  Result<std::vector<Reply>, ChildFailure> replies = session_->run({&call, 1});
  if (!replies) {
    return fail(std::move(replies.error().text), std::move(replies.error().breakdown));
  }
  return settle(std::move(replies->front()));
}

Answer ExternalAllocator::answer_foreseen(const Call& call) {
  const auto same = [&](const Foreseen& next) {
    return next.call.method == call.method && next.call.locs == call.locs && next.call.swa == call.swa &&
           next.call.segments == call.segments && next.call.seq_lens == call.seq_lens && next.call.slot == call.slot;
  };
  const auto found = diverged_ ? std::find_if(foreseen_.begin(), foreseen_.end(), same) : foreseen_.begin();
  if (found == foreseen_.end() || !same(*found)) {
    if (diverged_) {
      reply_ = {};
      return Answer::refused;  // nobody was asked this; the verdict does not need it
    }
    return fail(fmt::format("a fault of poolproof: {} was foreseen and {} is called",
                            write_run({&foreseen_.front().call, 1}), write_run({&call, 1})),
                std::nullopt);
  }
  Foreseen next = std::move(*found);
  foreseen_.erase(foreseen_.begin(), found + 1);
  const bool could_refuse = call.method <= Method::alloc_extend_swa_tail || call.method == Method::take_slot;
  diverged_ = diverged_ || (could_refuse && next.reply.answer != next.call.rehearsed);
  return settle(std::move(next.reply));
}

Answer ExternalAllocator::ask_offered(Offer offer, Call call) {
  if (!offered(offer)) {
    return fail(fmt::format("it does not offer '{}'", offer_name(offer)), std::nullopt);
  }
  return ask(std::move(call));
}

Allocator& ExternalAllocator::rehearse(std::unique_ptr<Allocator> rehearsal) {
  rehearsal_ = std::make_unique<Rehearsal>(geo_, offers_, std::move(rehearsal));
  return *rehearsal_;
}

void ExternalAllocator::send() {
  std::vector<Call> script = rehearsal_->take();
  if (script.empty() || !failure_.empty()) {
    return;
  }
  Result<std::vector<Reply>, ChildFailure> replies = session_->run(script);
  if (!replies) {
    fail(std::move(replies.error().text), std::move(replies.error().breakdown));
    return;
  }
  rehearsal_->learn(*replies);
  for (std::size_t i = 0; i < replies->size(); ++i) {
    resolve(script[i], *replies);
  }
  for (std::size_t i = 0; i < replies->size(); ++i) {
    foreseen_.push_back({std::move(script[i]), std::move((*replies)[i])});
  }
}

// ---- lending

Answer ExternalAllocator::lend(Offer offer, Call call, Locs& out) {
  const Answer answer = ask_offered(offer, std::move(call));
  if (answer == Answer::served) {
    out = std::move(reply_.locs);
  }
  return answer;
}

Answer ExternalAllocator::alloc(Tokens tokens, Locs& out) {
  Call call = call_of(Method::alloc);
  call.first = tokens;
  return lend(Offer::alloc, std::move(call), out);
}

Answer ExternalAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                       std::span<const Loc> last_locs, Locs& out) {
  Call call = loc_call(Method::alloc_extend, last_locs);
  call.prefix_lens.assign(prefix_lens.begin(), prefix_lens.end());
  call.seq_lens.assign(seq_lens.begin(), seq_lens.end());
  return lend(Offer::alloc_extend, std::move(call), out);
}

Answer ExternalAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  Call call = loc_call(Method::alloc_decode, last_locs);
  call.seq_lens.assign(seq_lens.begin(), seq_lens.end());
  return lend(Offer::alloc_decode, std::move(call), out);
}

Answer ExternalAllocator::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len,
                                                Pos tail_end, Locs& out) {
  Call call = loc_call(Method::alloc_extend_swa_tail, {&last_loc, 1});
  call.prefix_lens = {prefix_len};
  call.seq_lens = {seq_len};
  call.first = tail_len;
  call.second = tail_end;
  return lend(Offer::alloc_extend_swa_tail, std::move(call), out);
}

// ---- giving back

Answer ExternalAllocator::free(Side side, std::span<const Loc> locs) {
  return ask_offered(free_offer(side), loc_call(free_method(side), locs));
}

Answer ExternalAllocator::free_segments(Side side, std::span<const Segment> segments) {
  Call call = call_of(free_segments_method(side));
  for (const Segment& segment : segments) {
    call.segments.push_back({literal_runs(segment.locs), segment.start_pos});
  }
  return ask_offered(free_segments_offer(side), std::move(call));
}

Answer ExternalAllocator::free_group_begin() {
  Call call = call_of(Method::free_group_begin);
  call.again = std::exchange(group_open_, true);
  return ask_offered(call.again ? Offer::free_group_probe : Offer::free_group, std::move(call));
}

Answer ExternalAllocator::free_group_end() {
  Call call = call_of(Method::free_group_end);
  call.again = !std::exchange(group_open_, false);
  return ask_offered(call.again ? Offer::free_group_probe : Offer::free_group, std::move(call));
}

// ---- the mapping

Answer ExternalAllocator::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  Call call = loc_call(Method::set_full_to_swa_mapping, full);
  call.swa = literal_runs(swa);
  return ask_offered(Offer::mapping, std::move(call));
}

Answer ExternalAllocator::clear_full_to_swa_mapping(std::span<const Loc> full) {
  return ask_offered(Offer::mapping, loc_call(Method::clear_full_to_swa_mapping, full));
}

Answer ExternalAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  const Answer answer = ask_offered(Offer::translate, loc_call(Method::translate, full));
  if (answer == Answer::refused && !diverged_) {
    return garbled("a translation cannot be refused");
  }
  if (answer == Answer::refused) {
    std::fill(out.begin(), out.end(), Loc{0});
    return Answer::served;
  }
  if (answer == Answer::served) {
    std::copy(reply_.locs.begin(), reply_.locs.end(), out.begin());  // as many as asked for: the wire checks it
  }
  return answer;
}

// ---- the whole state

Answer ExternalAllocator::clear() {
  slots_.clear();
  group_open_ = false;
  return ask_offered(Offer::clear, call_of(Method::clear));
}

Answer ExternalAllocator::resize(Tokens full, Tokens swa) {
  Call call = call_of(Method::resize);
  call.first = full;
  call.second = swa;
  geo_.full = full;
  geo_.swa = geo_.hybrid() ? swa : 0;
  slots_.clear();
  group_open_ = false;
  size_stores();
  return ask_offered(Offer::resize, std::move(call));
}

Answer ExternalAllocator::backup_state(std::uint32_t key) {
  Call call = call_of(Method::backup_state);
  call.first = key;
  return ask_offered(Offer::snapshot, std::move(call));
}

Answer ExternalAllocator::restore_state(std::uint32_t key) {
  Call call = call_of(Method::restore_state);
  call.first = key;
  return ask_offered(Offer::snapshot, std::move(call));
}

// ---- request slots

Answer ExternalAllocator::take_slot(std::int64_t& slot) {
  if (offered(Offer::slots)) {
    const Answer answer = ask(call_of(Method::take_slot));
    slot = reply_.slot;
    return answer;
  }
  const std::optional<std::int64_t> taken = slots_.take();
  slot = taken.value_or(-1);
  return taken ? Answer::served : Answer::refused;
}

Answer ExternalAllocator::give_slot(std::int64_t slot) {
  if (offered(Offer::slots)) {
    Call call = call_of(Method::give_slot);
    call.slot.slot = slot;
    return ask(std::move(call));
  }
  slots_.give(slot);
  return Answer::served;
}

// ---- KV storage

Answer ExternalAllocator::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  if (offered(Offer::stamps)) {
    Call call = loc_call(Method::write_full, full_locs);
    call.stamps.assign(stamps.begin(), stamps.end());
    return ask(std::move(call));
  }
  full_kv_->store(full_locs, stamps);
  return Answer::served;
}

Answer ExternalAllocator::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  if (offered(Offer::stamps)) {
    const Answer answer = ask(loc_call(Method::read_full, full_locs));
    if (answer == Answer::served) {
      std::copy(reply_.stamps.begin(), reply_.stamps.end(), out.begin());
    }
    return answer;
  }
  full_kv_->load(full_locs, out);
  return Answer::served;
}

/// Asks where the sliding layers' KV of these locs lives now.
Answer ExternalAllocator::peers_of(std::span<const Loc> full_locs) {
  if (!geo_.paired()) {
    return Answer::served;
  }
  peers_.resize(full_locs.size());
  return translate_loc_from_full_to_swa(full_locs, peers_);
}

/// A peer that is no SWA loc leads to the padding slot, where no reader finds what it looks for.
std::int64_t ExternalAllocator::swa_row(std::size_t index, std::int64_t slot, Pos first_pos) const {
  const std::int64_t row =
      geo_.ringed() ? slot * geo_.ring + (first_pos + static_cast<Pos>(index)) % geo_.ring : peers_[index];
  return row >= 0 && row < swa_rows_ ? row : 0;
}

/// Fills the rows that the sliding layers' KV of these locs is kept in.
Answer ExternalAllocator::find_swa_rows(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos) {
  const Answer answer = peers_of(full_locs);
  rows_.clear();
  for (std::size_t i = 0; answer == Answer::served && i < full_locs.size(); ++i) {
    rows_.push_back(swa_row(i, slot, first_pos));
  }
  return answer;
}

Answer ExternalAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                    std::span<const Stamp> stamps) {
  if (offered(Offer::stamps)) {
    Call call = loc_call(Method::write_swa, full_locs);
    call.slot.slot = slot;
    call.first = first_pos;
    call.stamps.assign(stamps.begin(), stamps.end());
    return ask(std::move(call));
  }
  const Answer answer = find_swa_rows(full_locs, slot, first_pos);
  if (answer == Answer::served) {
    swa_kv_->store(rows_, stamps);
  }
  return answer;
}

Answer ExternalAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                   std::span<Stamp> out) {
  if (offered(Offer::stamps)) {
    Call call = loc_call(Method::read_swa, full_locs);
    call.slot.slot = slot;
    call.first = first_pos;
    const Answer answer = ask(std::move(call));
    if (answer == Answer::served) {
      std::copy(reply_.stamps.begin(), reply_.stamps.end(), out.begin());
    }
    return answer;
  }
  const Answer answer = find_swa_rows(full_locs, slot, first_pos);
  if (answer == Answer::served) {
    swa_kv_->load(rows_, out);
  }
  return answer;
}

// ---- what the checks look at

/// What is not told is as it should be: it is not checked.
Answer ExternalAllocator::gauges(Gauges& out) {
  const Answer answer = ask(call_of(Method::gauges));
  if (answer != Answer::served) {
    return answer == Answer::refused ? garbled("gauges cannot be refused") : answer;
  }
  const ToldGauges& told = *reply_.gauges;
  out = {};
  if (offered(Offer::slots) && geo_.reqs > 0 && !(told.slots && told.slots_free)) {
    return garbled("gauges: expected slots and slots_free, since `slots` is offered");
  }
  out.slots = told.slots.value_or(geo_.reqs);
  out.slots_free = told.slots_free.value_or(slots_.free_count());
  out.full_available = told.full_available ? *told.full_available : *told.available;
  out.full_size = told.full_size.value_or(geo_.full);
  out.available = out.full_available;
  out.size = out.full_size;
  if (geo_.hybrid()) {
    const bool ring = geo_.ringed();
    out.swa_available = told.swa_available.value_or(ring ? out.slots_free * geo_.ring_cost() : 0);
    out.swa_size = told.swa_size.value_or(ring ? out.slots * geo_.ring_cost() : geo_.swa);
    out.swa_pool_available = told.swa_pool_available.value_or(ring ? geo_.swa : out.swa_available);
    out.swa_pool_size = told.swa_pool_size.value_or(geo_.swa);
    out.mapping_tail = told.mapping_tail.value_or(-1);
    tells_tail_ = told.mapping_tail.has_value();
    out.available = ring ? out.full_available : std::min(out.full_available, out.swa_available);
    out.size = std::min(out.full_size, out.swa_size);
    if (!ring && !told.swa_available) {
      return garbled("gauges: expected swa_available on a hybrid pool");
    }
  }
  if (geo_.layout == Layout::pure_swa) {
    out.swa_available = told.swa_available.value_or(out.full_available);
    out.swa_size = told.swa_size.value_or(out.full_size);
  }
  out.available = told.available.value_or(out.available);
  out.size = told.size.value_or(out.size);
  return answer;
}

/// False when the deferred list is needed and not told.
bool ExternalAllocator::fill_pool(const ToldPool& told, PoolCensus& out) {
  out.free = told.free;
  out.staged = told.staged;
  out.deferred = told.deferred.value_or(std::vector<std::int64_t>{});
  return told.deferred.has_value() || !group_open_;
}

Answer ExternalAllocator::census(Census& out) {
  const bool foreseen = foreseen_.empty() || foreseen_.front().call.method == Method::census;
  if (!offered(Offer::census) || !foreseen || !failure_.empty()) {
    return Answer::refused;  // after a verdict, the lists are already those of later ops
  }
  const Answer answer = ask(call_of(Method::census));
  if (answer != Answer::served) {
    return answer;
  }
  const ToldCensus& told = *reply_.census;
  if (!fill_pool(told.full, out.full) || (geo_.hybrid() && !fill_pool(told.swa, out.swa))) {
    return Answer::refused;
  }
  mapping_.assign(geo_.hybrid() ? static_cast<std::size_t>(geo_.mapping_length()) : 0, Loc{0});
  if (!tells_tail_ && !mapping_.empty()) {
    mapping_.back() = -1;  // it has no such entry
  }
  for (const MappedRun& run : told.mapping) {
    for (Tokens i = 0; i < run.count; ++i) {
      const std::int64_t at = run.full + i;
      if (at >= static_cast<std::int64_t>(mapping_.size())) {
        return garbled(
            fmt::format("census.mapping: {} is behind the mapping's last entry, {}", at, geo_.mapping_length() - 1));
      }
      mapping_[static_cast<std::size_t>(at)] = run.swa + i;
    }
  }
  out.mapping = mapping_;
  out.free_slots = offered(Offer::slots) ? told.free_slots : slots_.free_list();
  return answer;
}

}  // namespace poolproof
