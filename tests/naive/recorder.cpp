#include "tests/naive/recorder.hpp"

namespace poolproof::naive {
namespace {

Numbers numbers(std::span<const std::int64_t> values) { return {values.begin(), values.end()}; }

Numbers numbers(std::span<const Stamp> stamps) {
  Numbers out;
  for (const Stamp stamp : stamps) {
    out.push_back(static_cast<std::int64_t>(stamp));
  }
  return out;
}

Numbers number(Side side) { return {static_cast<std::int64_t>(side)}; }

}  // namespace

class Recorder::Memory final : public PoolMemory {
 public:
  Memory(Recorder& recorder, PoolMemory& inner) : recorder_(recorder), inner_(inner) {}

  Answer pause(MemoryTag tag) override { return noted(CallKind::pause, {{number(tag)}}, inner_.pause(tag)); }
  Answer resume(MemoryTag tag) override { return noted(CallKind::resume, {{number(tag)}}, inner_.resume(tag)); }
  Answer destroy() override { return noted(CallKind::destroy, {}, inner_.destroy()); }
  Answer build() override { return noted(CallKind::build, {}, inner_.build()); }
  Answer flush() override { return noted(CallKind::flush, {}, inner_.flush()); }
  Answer report(MemoryReport& out) override {
    const Answer answer = inner_.report(out);
    recorder_.reports_.push_back(out);
    return answer;
  }

 private:
  static std::int64_t number(MemoryTag tag) { return static_cast<std::int64_t>(tag); }
  Answer noted(CallKind kind, std::vector<Numbers> args, Answer answer) {
    return recorder_.record(kind, std::move(args), {}, answer);
  }

  Recorder& recorder_;
  PoolMemory& inner_;
};

Recorder::Recorder(std::unique_ptr<Allocator> inner) : inner_(std::move(inner)) {
  if (PoolMemory* memory = inner_->memory()) {
    memory_ = std::make_unique<Memory>(*this, *memory);
  }
}

Answer Recorder::record(CallKind kind, std::vector<Numbers> args, Numbers data, Answer answer) {
  calls_.push_back({kind, std::move(args), std::move(data), answer});
  return answer;
}

std::unique_ptr<Recorder> Recorder::copy() const {
  auto twin = std::make_unique<Recorder>(inner_->clone());
  twin->calls_ = calls_;
  twin->gauges_ = gauges_;
  return twin;
}

std::unique_ptr<Allocator> Recorder::clone() const { return copy(); }

Answer Recorder::alloc(Tokens tokens, Locs& out) {
  const Answer answer = inner_->alloc(tokens, out);
  return record(CallKind::alloc, {{tokens}}, out, answer);
}

Answer Recorder::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                              std::span<const Loc> last_locs, Locs& out) {
  const Answer answer = inner_->alloc_extend(prefix_lens, seq_lens, last_locs, out);
  return record(CallKind::alloc_extend, {numbers(prefix_lens), numbers(seq_lens), numbers(last_locs)}, out, answer);
}

Answer Recorder::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  const Answer answer = inner_->alloc_decode(seq_lens, last_locs, out);
  return record(CallKind::alloc_decode, {numbers(seq_lens), numbers(last_locs)}, out, answer);
}

Answer Recorder::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                       Locs& out) {
  const Answer answer = inner_->alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, out);
  return record(CallKind::alloc_tail, {{prefix_len, seq_len, last_loc, tail_len, tail_end}}, out, answer);
}

Answer Recorder::free(Side side, std::span<const Loc> locs) {
  return record(CallKind::free, {number(side), numbers(locs)}, {}, inner_->free(side, locs));
}

Answer Recorder::free_segments(Side side, std::span<const Segment> segments) {
  std::vector<Numbers> args{number(side)};
  for (const Segment& segment : segments) {
    args.push_back({segment.start_pos});
    args.push_back(numbers(segment.locs));
  }
  return record(CallKind::free_segments, std::move(args), {}, inner_->free_segments(side, segments));
}

Answer Recorder::free_group_begin() { return record(CallKind::group_begin, {}, {}, inner_->free_group_begin()); }

Answer Recorder::free_group_end() { return record(CallKind::group_end, {}, {}, inner_->free_group_end()); }

Answer Recorder::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  return record(CallKind::set_mapping, {numbers(full), numbers(swa)}, {}, inner_->set_full_to_swa_mapping(full, swa));
}

Answer Recorder::clear_full_to_swa_mapping(std::span<const Loc> full) {
  return record(CallKind::clear_mapping, {numbers(full)}, {}, inner_->clear_full_to_swa_mapping(full));
}

Answer Recorder::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  const Answer answer = inner_->translate_loc_from_full_to_swa(full, out);
  return record(CallKind::translate, {numbers(full)}, numbers(std::span<const Loc>(out)), answer);
}

Answer Recorder::clear() { return record(CallKind::clear, {}, {}, inner_->clear()); }

Answer Recorder::resize(Tokens full, Tokens swa) {
  return record(CallKind::resize, {{full, swa}}, {}, inner_->resize(full, swa));
}

Answer Recorder::backup_state(std::uint32_t key) {
  return record(CallKind::backup, {{static_cast<std::int64_t>(key)}}, {}, inner_->backup_state(key));
}

Answer Recorder::restore_state(std::uint32_t key) {
  return record(CallKind::restore, {{static_cast<std::int64_t>(key)}}, {}, inner_->restore_state(key));
}

Answer Recorder::take_slot(std::int64_t& slot) {
  const Answer answer = inner_->take_slot(slot);
  return record(CallKind::take_slot, {}, {slot}, answer);
}

Answer Recorder::give_slot(std::int64_t slot) {
  return record(CallKind::give_slot, {{slot}}, {}, inner_->give_slot(slot));
}

Answer Recorder::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  return record(CallKind::write_full, {numbers(full_locs)}, numbers(stamps), inner_->write_full(full_locs, stamps));
}

Answer Recorder::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  const Answer answer = inner_->read_full(full_locs, out);
  return record(CallKind::read_full, {numbers(full_locs)}, numbers(std::span<const Stamp>(out)), answer);
}

Answer Recorder::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                           std::span<const Stamp> stamps) {
  return record(CallKind::write_swa, {numbers(full_locs), {slot}, {first_pos}}, numbers(stamps),
                inner_->write_swa(full_locs, slot, first_pos, stamps));
}

Answer Recorder::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) {
  const Answer answer = inner_->read_swa(full_locs, slot, first_pos, out);
  return record(CallKind::read_swa, {numbers(full_locs), {slot}, {first_pos}}, numbers(std::span<const Stamp>(out)),
                answer);
}

Answer Recorder::gauges(Gauges& out) {
  const Answer answer = inner_->gauges(out);
  gauges_ = out;
  return answer;
}

}  // namespace poolproof::naive
