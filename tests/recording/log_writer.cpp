#include "tests/recording/log_writer.hpp"

#include <nlohmann/json.hpp>
#include <span>

namespace poolproof {
namespace {

using Json = nlohmann::ordered_json;

Json runs(std::span<const Loc> locs) {
  Json json = Json::array();
  for (std::size_t i = 0; i < locs.size();) {
    std::size_t count = 1;
    while (i + count < locs.size() && locs[i + count] == locs[i] + static_cast<Loc>(count)) {
      ++count;
    }
    json.push_back({locs[i], count});
    i += count;
  }
  return json;
}

Json numbers(std::span<const Pos> values) { return Json(std::vector<Pos>(values.begin(), values.end())); }

class LoggingAllocator final : public Allocator {
 public:
  LoggingAllocator(std::unique_ptr<Allocator> inner, const Geometry& geometry, std::string& log)
      : inner_(std::move(inner)), geometry_(geometry), log_(log) {
    Gauges gauges;
    inner_->gauges(gauges);
    log_ += log_header(geometry, gauges);
  }

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override { return nullptr; }

  Answer alloc(Tokens tokens, Locs& out) override {
    return lent({{"call", "alloc"}, {"tokens", tokens}}, inner_->alloc(tokens, out), out);
  }
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override {
    return lent({{"call", "alloc_extend"},
                 {"prefix_lens", numbers(prefix_lens)},
                 {"seq_lens", numbers(seq_lens)},
                 {"last_locs", runs(last_locs)}},
                inner_->alloc_extend(prefix_lens, seq_lens, last_locs, out), out);
  }
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    return lent({{"call", "alloc_decode"}, {"seq_lens", numbers(seq_lens)}, {"last_locs", runs(last_locs)}},
                inner_->alloc_decode(seq_lens, last_locs, out), out);
  }
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override {
    return lent({{"call", "alloc_extend_swa_tail"},
                 {"prefix_lens", {prefix_len}},
                 {"seq_lens", {seq_len}},
                 {"last_locs", Json::array({Json::array({last_loc, 1})})},
                 {"tail_len", tail_len},
                 {"tail_end", tail_end}},
                inner_->alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, out), out);
  }
  Answer free(Side side, std::span<const Loc> locs) override {
    const Json line{{"call", named("free", side, "")}, {"locs", runs(locs)}};
    return said(line, inner_->free(side, locs));
  }
  Answer free_segments(Side side, std::span<const Segment> segments) override {
    Json line{{"call", named("free", side, "_segments")}, {"segments", Json::array()}};
    for (const Segment& segment : segments) {
      line["segments"].push_back({{"locs", runs(segment.locs)}, {"start_pos", segment.start_pos}});
    }
    return said(line, inner_->free_segments(side, segments));
  }
  Answer free_group_begin() override { return probed("free_group_begin", inner_->free_group_begin()); }
  Answer free_group_end() override { return probed("free_group_end", inner_->free_group_end()); }
  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override {
    const Json line{{"call", "set_full_to_swa_mapping"}, {"locs", runs(full)}, {"swa_locs", runs(swa)}};
    return said(line, inner_->set_full_to_swa_mapping(full, swa));
  }
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override {
    const Json line{{"call", "clear_full_to_swa_mapping"}, {"locs", runs(full)}};
    return said(line, inner_->clear_full_to_swa_mapping(full));
  }
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override {
    return inner_->translate_loc_from_full_to_swa(full, out);
  }
  Answer clear() override { return said({{"call", "clear"}}, inner_->clear()); }
  Answer resize(Tokens full, Tokens swa) override {
    return said({{"call", "resize"}, {"full_size", full}, {"swa_size", swa}}, inner_->resize(full, swa));
  }
  Answer backup_state(std::uint32_t key) override {
    return said({{"call", "backup_state"}, {"key", key}}, inner_->backup_state(key));
  }
  Answer restore_state(std::uint32_t key) override {
    return said({{"call", "restore_state"}, {"key", key}}, inner_->restore_state(key));
  }
  Answer take_slot(std::int64_t& slot) override {
    const Answer answer = inner_->take_slot(slot);
    return said({{"call", "take_slot"}, {"slot", answer == Answer::served ? Json(slot) : Json(nullptr)}}, answer);
  }
  Answer give_slot(std::int64_t slot) override {
    return said({{"call", "give_slot"}, {"slot", slot}}, inner_->give_slot(slot));
  }
  Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) override {
    return inner_->write_full(full_locs, stamps);
  }
  Answer read_full(std::span<const Loc> full_locs, std::span<Stamp> out) override {
    return inner_->read_full(full_locs, out);
  }
  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override {
    return inner_->write_swa(full_locs, slot, first_pos, stamps);
  }
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override {
    return inner_->read_swa(full_locs, slot, first_pos, out);
  }
  Answer gauges(Gauges& out) override { return inner_->gauges(out); }
  Answer census(Census& out) override { return inner_->census(out); }
  [[nodiscard]] std::string failure() const override { return inner_->failure(); }

 private:
  static std::string named(const std::string& word, Side side, const std::string& tail) {
    return word + (side == Side::swa ? "_swa" : side == Side::full ? "_full" : "") + tail;
  }
  Answer said(const Json& call, Answer answer) {
    Json line{{"n", n_++}, {"t", n_ * 1000}};
    line.update(call);
    Gauges gauges;
    inner_->gauges(gauges);
    line["full"] = gauges.full_available;
    if (geometry_.sliding()) {
      line["swa"] = gauges.swa_available;
    }
    log_ += line.dump() + "\n";
    return answer;
  }
  Answer lent(Json call, Answer answer, const Locs& locs) {
    call["locs"] = answer == Answer::served ? runs(locs) : Json(nullptr);
    return said(call, answer);
  }
  /// What was rejected was a probe.
  Answer probed(const char* name, Answer answer) {
    Json line{{"call", name}};
    if (answer == Answer::refused) {
      line["again"] = true;
    }
    return said(line, answer);
  }

  std::unique_ptr<Allocator> inner_;
  Geometry geometry_;
  std::string& log_;
  std::uint64_t n_ = 0;
};

}  // namespace

std::string log_header(const Geometry& geometry, const Gauges& gauges, bool fresh, std::uint64_t file,
                       std::uint64_t n) {
  Json pool{{"layout", layout_name(geometry.layout)},
            {"page", geometry.page},
            {"full", geometry.full},
            {"swa", geometry.swa},
            {"ring", geometry.ring},
            {"window", geometry.window},
            {"reqs", geometry.reqs},
            {"need_sort", geometry.need_sort}};
  Json seen{{"full_available", gauges.full_available}};
  if (geometry.sliding()) {
    seen["swa_available"] = gauges.swa_available;
  }
  const Json line{{"poolproof_log", 1}, {"session", "s1"},  {"file", file},   {"n", n},         {"class", "Pool"},
                  {"engine", "test 1"}, {"geometry", pool}, {"fresh", fresh}, {"gauges", seen}, {"time_ns", 1}};
  return line.dump() + "\n";
}

std::unique_ptr<Allocator> log_calls(std::unique_ptr<Allocator> inner, const Geometry& geometry, std::string& log) {
  return std::make_unique<LoggingAllocator>(std::move(inner), geometry, log);
}

}  // namespace poolproof
