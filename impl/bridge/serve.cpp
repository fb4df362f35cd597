#include "impl/bridge/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <utility>

#include "impl/bridge/wire.hpp"
#include "impl/ranks.hpp"

namespace poolproof {
namespace {

Reply plain(Answer answer) {
  Reply reply;
  reply.answer = answer;
  return reply;
}

Geometry sample(Layout layout, Tokens page, bool ring, bool need_sort) {
  Geometry g;
  g.layout = layout;
  g.page = page;
  g.full = 8 * page;
  g.swa = g.hybrid() ? 6 * page : 0;
  g.window = g.sliding() ? page + 1 : 0;
  g.ring = ring ? page + 1 : 0;
  g.reqs = 2;
  g.need_sort = need_sort;
  return g;
}

/// One pool of each kind: what an implementation supports depends on the kind alone, as far as a hello can say it.
std::vector<Geometry> sample_geometries() {
  std::vector<Geometry> samples;
  for (const Layout layout : {Layout::token, Layout::paged, Layout::hybrid, Layout::pure_swa}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      samples.push_back(sample(layout, (bits & 4U) != 0 ? 2 : 1, (bits & 2U) != 0, (bits & 1U) != 0));
    }
  }
  std::erase_if(samples, [](const Geometry& g) { return geometry_fault(g).has_value(); });
  return samples;
}

/// Everything that the contract has, for each kind of pool that it supports.
Capabilities capabilities_of(const ImplInfo& impl) {
  Capabilities capabilities;
  capabilities.name = impl.name;
  capabilities.version = POOLPROOF_VERSION;
  if (!impl.mechanism.empty()) {
    capabilities.notes.push_back(impl.mechanism);
  }
  for (const Geometry& g : sample_geometries()) {
    if (!impl.supports(g)) {
      continue;
    }
    PoolKind kind;
    kind.layout = g.layout;
    kind.page_min = g.page;
    kind.page_max = g.page == 1 ? 1 : max_page_tokens;
    kind.ring_on = g.ringed();
    kind.ring_off = !g.ringed();
    kind.sort_on = g.need_sort;
    kind.sort_off = !g.need_sort;
    kind.offers.set();
    capabilities.pools.push_back(kind);
  }
  return capabilities;
}

ToldPool told_pool(const PoolCensus& pool) { return {pool.free, pool.staged, pool.deferred}; }

std::vector<MappedRun> told_mapping(std::span<const Loc> mapping) {
  std::vector<MappedRun> runs;
  for (std::size_t i = 0; i < mapping.size(); ++i) {
    if (mapping[i] == 0) {
      continue;
    }
    const auto full = static_cast<Loc>(i);
    if (!runs.empty() && runs.back().full + runs.back().count == full &&
        runs.back().swa + runs.back().count == mapping[i]) {
      ++runs.back().count;
    } else {
      runs.push_back({full, mapping[i], 1});
    }
  }
  return runs;
}

}  // namespace

Server::Server(const ImplInfo& impl, std::uint32_t rank) : impl_(impl), rank_(rank) {}

bool Server::over() const { return allocator_ && allocator_->beyond_repair(); }

std::string Server::hello() const { return write_capabilities(capabilities_of(impl_)); }

Result<std::string, BadRequest> Server::answer(std::string_view line) {
  Result<Request, std::string> request = read_request(line);
  if (!request) {
    return BadRequest{request.error()};
  }
  if (const auto* said = std::get_if<HelloRequest>(&*request)) {
    if (said->protocol != protocol_version) {
      return BadRequest{
          fmt::format("version {} of the protocol is asked for, and this speaks {}", said->protocol, protocol_version)};
    }
    return hello();
  }
  if (const auto* geometry = std::get_if<Geometry>(&*request)) {
    return reset(*geometry);
  }
  if (!allocator_) {
    return BadRequest{"a run came before a reset"};
  }
  return run(std::move(std::get<RunRequest>(*request).calls));
}

std::string Server::reset(const Geometry& geometry) {
  allocator_.reset();  // a device may not hold two pools
  auto built = build_rank(impl_, geometry, rank_);
  if (!built) {
    return write_reset_answer(built.error());
  }
  if (!impl_.supports(geometry)) {
    return write_reset_answer(fmt::format("{} does not support {}", impl_.name, to_string(geometry)));
  }
  allocator_ = std::move(built).value();
  geo_ = geometry;
  return write_reset_answer({});
}

std::string Server::run(std::vector<Call> calls) {
  replies_.clear();
  for (const Call& call : calls) {
    const std::string fault = unresolved(call);
    if (fault.empty()) {
      replies_.push_back(perform(call));
      if (replies_.back().answer == Answer::failed) {
        replies_.back().error = raised();
      }
    } else {
      replies_.push_back(plain(Answer::failed));
      replies_.back().error = RaisedError{"Unresolved", fault, {}};
    }
    if (replies_.back().answer == Answer::failed) {
      break;
    }
  }
  return write_run_answer(calls, replies_);
}

/// What tells one breakdown from another goes along.
RaisedError Server::raised() const {
  const std::optional<Breakdown> breakdown = allocator_->breakdown();
  const std::string type = breakdown && !breakdown->signature.empty() ? breakdown->signature : "Failure";
  std::string text = allocator_->failure();
  if (text.starts_with(type + ": ")) {
    text.erase(0, type.size() + 2);  // whoever reads it puts the type before it
  }
  return {type, std::move(text), {}};
}

/// Nothing, or why the call cannot be made: its references lead to nothing, or its locs are none of the pool.
std::string Server::unresolved(const Call& call) const {
  const Loc limit = geo_.full + geo_.page;
  bool in_range = true;
  const auto there = [&](const LocRuns& runs) {
    return each_loc(runs, replies_, [&](Loc loc) { in_range = in_range && loc >= -1 && loc < limit; });
  };
  bool all = there(call.locs);
  for (const SegmentRuns& segment : call.segments) {
    all = all && there(segment.locs);
  }
  if (!all || !each_loc(call.swa, replies_, [](Loc) {})) {
    return fmt::format("{} names locs that no earlier call of the line answered", method_name(call.method));
  }
  return in_range ? std::string() : fmt::format("{} names a loc beyond the pool", method_name(call.method));
}

Locs Server::locs_of(const LocRuns& runs) const {
  Locs locs;
  each_loc(runs, replies_, [&](Loc loc) { locs.push_back(loc); });
  return locs;
}

std::int64_t Server::slot_of(const SlotRef& ref) const {
  return ref.of == LocRun::literal ? ref.slot : replies_[static_cast<std::size_t>(ref.of)].slot;
}

Reply Server::lend(Answer answer) {
  Reply reply = plain(answer);
  if (answer == Answer::served) {
    reply.locs = locs_;
  }
  return reply;
}

Reply Server::free_segments(Side side, const Call& call) {
  std::vector<Locs> arrays;
  std::vector<Segment> segments;
  arrays.reserve(call.segments.size());
  for (const SegmentRuns& segment : call.segments) {
    arrays.push_back(locs_of(segment.locs));
    segments.push_back({arrays.back(), segment.start_pos});
  }
  const Answer answer = allocator_->free_segments(side, segments);
  for (Locs& array : arrays) {
    std::fill(array.begin(), array.end(), Loc{0});  // the arrays are the caller's again
  }
  return plain(answer);
}

Reply Server::gauges() {
  Gauges seen;
  Reply reply = plain(allocator_->gauges(seen));
  ToldGauges told;
  told.available = seen.available;
  told.size = seen.size;
  told.full_available = seen.full_available;
  told.full_size = seen.full_size;
  told.slots_free = seen.slots_free;
  told.slots = seen.slots;
  if (geo_.sliding()) {
    told.swa_available = seen.swa_available;
    told.swa_size = seen.swa_size;
  }
  if (geo_.hybrid()) {
    told.swa_pool_available = seen.swa_pool_available;
    told.swa_pool_size = seen.swa_pool_size;
    told.mapping_tail = seen.mapping_tail;
  }
  reply.gauges = told;
  return reply;
}

Reply Server::census() {
  Census seen;
  Reply reply = plain(allocator_->census(seen));
  reply.census = ToldCensus{told_pool(seen.full), told_pool(seen.swa), told_mapping(seen.mapping), seen.free_slots};
  return reply;
}

Reply Server::perform(const Call& call) {
  const auto free_set = [&](Side side) {
    Locs locs = locs_of(call.locs);
    const Answer answer = allocator_->free(side, locs);
    std::fill(locs.begin(), locs.end(), Loc{0});
    return plain(answer);
  };
  Reply reply;
  switch (call.method) {
    case Method::alloc:
      return lend(allocator_->alloc(call.first, locs_));
    case Method::alloc_extend:
      return lend(allocator_->alloc_extend(call.prefix_lens, call.seq_lens, locs_of(call.locs), locs_));
    case Method::alloc_decode:
      return lend(allocator_->alloc_decode(call.seq_lens, locs_of(call.locs), locs_));
    case Method::alloc_extend_swa_tail:
      return lend(allocator_->alloc_extend_swa_tail(call.prefix_lens[0], call.seq_lens[0], locs_of(call.locs)[0],
                                                    call.first, call.second, locs_));
    case Method::free:
      return free_set(Side::both);
    case Method::free_swa:
      return free_set(Side::swa);
    case Method::free_full:
      return free_set(Side::full);
    case Method::free_segments:
      return free_segments(Side::both, call);
    case Method::free_swa_segments:
      return free_segments(Side::swa, call);
    case Method::free_full_segments:
      return free_segments(Side::full, call);
    case Method::free_group_begin:
      return plain(allocator_->free_group_begin());
    case Method::free_group_end:
      return plain(allocator_->free_group_end());
    case Method::set_full_to_swa_mapping:
      return plain(allocator_->set_full_to_swa_mapping(locs_of(call.locs), locs_of(call.swa)));
    case Method::clear_full_to_swa_mapping:
      return plain(allocator_->clear_full_to_swa_mapping(locs_of(call.locs)));
    case Method::translate: {
      const Locs full = locs_of(call.locs);
      reply.locs.resize(full.size());
      reply.answer = allocator_->translate_loc_from_full_to_swa(full, reply.locs);
      return reply;
    }
    case Method::clear:
      return plain(allocator_->clear());
    case Method::resize:
      geo_.full = call.first;
      return plain(allocator_->resize(call.first, call.second));
    case Method::backup_state:
      return plain(allocator_->backup_state(static_cast<std::uint32_t>(call.first)));
    case Method::restore_state:
      return plain(allocator_->restore_state(static_cast<std::uint32_t>(call.first)));
    case Method::take_slot:
      reply.answer = allocator_->take_slot(reply.slot);
      return reply;
    case Method::give_slot:
      return plain(allocator_->give_slot(slot_of(call.slot)));
    case Method::write_full:
      return plain(allocator_->write_full(locs_of(call.locs), call.stamps));
    case Method::read_full: {
      const Locs full = locs_of(call.locs);
      reply.stamps.resize(full.size());
      reply.answer = allocator_->read_full(full, reply.stamps);
      return reply;
    }
    case Method::write_swa:
      return plain(allocator_->write_swa(locs_of(call.locs), slot_of(call.slot), call.first, call.stamps));
    case Method::read_swa: {
      const Locs full = locs_of(call.locs);
      reply.stamps.resize(full.size());
      reply.answer = allocator_->read_swa(full, slot_of(call.slot), call.first, reply.stamps);
      return reply;
    }
    case Method::gauges:
      return gauges();
    case Method::census:
      return census();
  }
  return reply;
}

std::optional<BadRequest> serve_lines(Server& server, std::istream& in, std::FILE* out) {
  std::string line;
  for (std::size_t number = 1; !server.over() && std::getline(in, line); ++number) {
    Result<std::string, BadRequest> answer = server.answer(line);
    if (!answer) {
      return BadRequest{answer.error().what, number};
    }
    const std::string text = *std::move(answer) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
      break;  // nobody listens any more
    }
  }
  return std::nullopt;
}

}  // namespace poolproof
