#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impl/bridge/wire.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, method_count> method_names = {
    "alloc",
    "alloc_extend",
    "alloc_decode",
    "alloc_extend_swa_tail",
    "free",
    "free_swa",
    "free_full",
    "free_segments",
    "free_swa_segments",
    "free_full_segments",
    "free_group_begin",
    "free_group_end",
    "set_full_to_swa_mapping",
    "clear_full_to_swa_mapping",
    "translate",
    "clear",
    "resize",
    "backup_state",
    "restore_state",
    "take_slot",
    "give_slot",
    "write_full",
    "read_full",
    "write_swa",
    "read_swa",
    "gauges",
    "census",
};

/// Lists may be longer than they should be: the checks say so. Beyond this they are no answer.
constexpr std::int64_t spare_entries = 4096;
/// A request slot, page or token count beyond this is none.
constexpr std::int64_t largest_number = std::int64_t{1} << 62U;
constexpr std::int64_t longest_request = std::int64_t{1} << 28U;

std::string shortened(std::string_view text) {
  constexpr std::size_t most = 60;
  return text.size() <= most ? std::string(text) : fmt::format("{}...", text.substr(0, most));
}

/// Takes values out of a parsed line. The first thing that is wrong is kept, with its path; all later answers are
/// defaults, so that callers need to look once, at the end.
class Reader {
 public:
  [[nodiscard]] bool failed() const { return !error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Runs `read` with `part` added to the path.
  template <typename Read>
  void in(const std::string& part, const Read& read) {
    const std::size_t length = path_.size();
    path_ += (path_.empty() || part.starts_with('[') ? "" : ".") + part;
    read();
    path_.resize(length);
  }

  void expected(std::string_view what, const Json& seen) {
    if (error_.empty()) {
      error_ = fmt::format("{}{}expected {}, got {}", path_, path_.empty() ? "" : ": ", what,
                           shortened(seen.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
  }

  /// The value under a key, or null.
  const Json& field(const Json& object, const char* key) {
    static const Json none;
    if (!object.is_object()) {
      expected("an object", object);
      return none;
    }
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
  }

  std::int64_t number(const Json& value, std::int64_t least = -largest_number) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_number)) ||
        value.get<std::int64_t>() < least || value.get<std::int64_t>() > largest_number) {
      expected(least == 0 ? "a whole number from 0" : "a whole number", value);
      return 0;
    }
    return value.get<std::int64_t>();
  }
  std::int64_t number_field(const Json& object, const char* key, std::int64_t least = -largest_number) {
    std::int64_t got = 0;
    in(key, [&] { got = number(field(object, key), least); });
    return got;
  }
  std::optional<std::int64_t> optional_number(const Json& object, const char* key) {
    if (field(object, key).is_null()) {
      return std::nullopt;
    }
    return number_field(object, key);
  }
  bool flag(const Json& value) {
    if (!value.is_boolean()) {
      expected("true or false", value);
      return false;
    }
    return value.get<bool>();
  }
  std::string text(const Json& value) {
    if (!value.is_string()) {
      expected("a text", value);
      return {};
    }
    return value.get<std::string>();
  }
  std::string text_field(const Json& object, const char* key) {
    std::string got;
    in(key, [&] { got = text(field(object, key)); });
    return got;
  }

  template <typename Each>
  void each(const Json& list, const Each& read) {
    if (!list.is_array()) {
      expected("a list", list);
      return;
    }
    for (std::size_t i = 0; i < list.size() && !failed(); ++i) {
      in(fmt::format("[{}]", i), [&] { read(list[i]); });
    }
  }
  template <typename Each>
  void each_field(const Json& object, const char* key, const Each& read) {
    in(key, [&] { each(field(object, key), read); });
  }

 private:
  std::string path_;
  std::string error_;
};

/// The runs of an answer, spelled out; at most `limit` locs.
Locs read_locs(Reader& reader, const Json& object, const char* key, std::int64_t limit) {
  Locs locs;
  reader.each_field(object, key, [&](const Json& run) {
    if (!run.is_array() || run.size() != 2) {
      return reader.expected("a run [first, count]", run);
    }
    const Loc first = reader.number(run[0]);
    const Tokens count = reader.number(run[1], 0);
    if (count > limit - static_cast<Tokens>(locs.size())) {
      return reader.expected(fmt::format("at most {} entries in all", limit), run);
    }
    for (Tokens i = 0; i < count; ++i) {
      locs.push_back(first + i);
    }
  });
  return locs;
}

/// The runs of a request's line, by reference or not; `calls` come before it in the line.
LocRuns read_runs(Reader& reader, const Json& object, const char* key, std::size_t calls) {
  LocRuns runs;
  std::int64_t left = longest_request;
  reader.each_field(object, key, [&](const Json& run) {
    if (!run.is_array() || run.size() < 2 || run.size() > 4) {
      return reader.expected("a run [first, count], [call, first, count] or [call, index, shift, count]", run);
    }
    const bool by_reference = run.size() > 2;
    LocRun read{reader.number(run[by_reference ? 1 : 0]), reader.number(run[run.size() - 1], 0), LocRun::literal};
    if (run.size() == 4) {
      read.shift = reader.number(run[2], 0);
    }
    if (by_reference) {
      const std::int64_t of = reader.number(run[0], 0);
      if (of >= static_cast<std::int64_t>(calls)) {
        return reader.expected("the number of an earlier call of the line", run[0]);
      }
      read.of = static_cast<std::int32_t>(of);
    }
    if (read.count > left) {
      return reader.expected("fewer locs in one call", run);
    }
    left -= read.count;
    runs.push_back(read);
  });
  return runs;
}

std::optional<Json> parse(std::string_view line, std::string& error) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    error = fmt::format("it is no JSON: {}", shortened(line));
    return std::nullopt;
  }
  if (!json.is_object()) {
    error = fmt::format("expected an object, got {}", shortened(line));
    return std::nullopt;
  }
  return json;
}

RaisedError read_error(Reader& reader, const Json& error) {
  RaisedError raised;
  reader.in("error", [&] {
    if (error.is_string()) {
      raised = {"Error", error.get<std::string>(), {}};
      return;
    }
    raised.type = reader.text_field(error, "type");
    raised.text = error.is_object() && error.contains("text") ? reader.text_field(error, "text") : std::string();
    raised.where = error.is_object() && error.contains("where") ? reader.text_field(error, "where") : std::string();
  });
  return raised;
}

// ---- the hello

std::optional<Offer> offer_from(std::string_view name) {
  for (std::size_t i = 0; i < offer_count; ++i) {
    if (offer_name(static_cast<Offer>(i)) == name) {
      return static_cast<Offer>(i);
    }
  }
  return std::nullopt;
}

/// `[false, true]` in two flags; absent: false alone.
void read_bools(Reader& reader, const Json& object, const char* key, bool& off, bool& on) {
  if (reader.field(object, key).is_null()) {
    return;
  }
  off = on = false;
  reader.each_field(object, key, [&](const Json& value) { (reader.flag(value) ? on : off) = true; });
}

void read_pages(Reader& reader, const Json& pool, PoolKind& kind) {
  const Json& range = reader.field(pool, "page");
  if (range.is_null()) {
    return;
  }
  reader.in("page", [&] {
    if (!range.is_array() || range.size() != 2) {
      return reader.expected("[smallest, largest]", range);
    }
    kind.page_min = reader.number(range[0], 1);
    kind.page_max = reader.number(range[1], 1);
    if (kind.page_min > kind.page_max) {
      reader.expected("the smaller page size first", range);
    }
  });
}

PoolKind read_kind(Reader& reader, const Json& pool) {
  PoolKind kind;
  const std::string layout = reader.text_field(pool, "layout");
  if (const std::optional<Layout> known = layout_from(layout)) {
    kind.layout = *known;
  } else {
    reader.in("layout", [&] { reader.expected("token, paged, hybrid or pure_swa", reader.field(pool, "layout")); });
  }
  read_pages(reader, pool, kind);
  read_bools(reader, pool, "ring", kind.ring_off, kind.ring_on);
  read_bools(reader, pool, "need_sort", kind.sort_off, kind.sort_on);
  reader.each_field(pool, "calls", [&](const Json& name) {
    const std::optional<Offer> offer = offer_from(reader.text(name));
    if (!offer) {
      return reader.expected("a name of docs/external.md's table", name);
    }
    kind.offers.set(static_cast<std::size_t>(*offer));
  });
  if (const std::string missing = missing_offer(kind); !reader.failed() && !missing.empty()) {
    reader.expected(missing, reader.field(pool, "calls"));
  }
  return kind;
}

// ---- answers

constexpr std::array<const char*, 11> gauge_keys = {"available",     "size",     "full_available",     "full_size",
                                                    "swa_available", "swa_size", "swa_pool_available", "swa_pool_size",
                                                    "slots_free",    "slots",    "mapping_tail"};

ToldGauges read_gauges(Reader& reader, const Json& object) {
  ToldGauges told;
  const std::array<std::optional<std::int64_t>*, gauge_keys.size()> fields = {
      &told.available,     &told.size,     &told.full_available,     &told.full_size,
      &told.swa_available, &told.swa_size, &told.swa_pool_available, &told.swa_pool_size,
      &told.slots_free,    &told.slots,    &told.mapping_tail};
  for (std::size_t i = 0; i < gauge_keys.size(); ++i) {
    *fields.at(i) = reader.optional_number(object, gauge_keys.at(i));
  }
  if (!reader.failed() && !told.available && !told.full_available) {
    reader.expected("available or full_available", object);
  }
  return told;
}

ToldPool read_pool(Reader& reader, const Json& object, std::int64_t limit) {
  ToldPool pool;
  pool.free = read_locs(reader, object, "free", limit);
  if (!reader.field(object, "staged").is_null()) {
    pool.staged = read_locs(reader, object, "staged", limit);
  }
  if (!reader.field(object, "deferred").is_null()) {
    pool.deferred = read_locs(reader, object, "deferred", limit);
  }
  return pool;
}

std::vector<MappedRun> read_mapping(Reader& reader, const Json& census, std::int64_t limit) {
  std::vector<MappedRun> mapping;
  std::int64_t left = limit;
  reader.each_field(census, "mapping", [&](const Json& run) {
    if (!run.is_array() || run.size() != 3) {
      return reader.expected("a stretch [full, swa, count]", run);
    }
    const MappedRun read{reader.number(run[0], 0), reader.number(run[1]), reader.number(run[2], 0)};
    if (read.count > left || read.full > limit) {
      return reader.expected("a stretch inside the mapping", run);
    }
    left -= read.count;
    mapping.push_back(read);
  });
  return mapping;
}

ToldCensus read_census(Reader& reader, const Json& object, std::int64_t limit) {
  ToldCensus census;
  reader.in("full", [&] { census.full = read_pool(reader, reader.field(object, "full"), limit); });
  if (!reader.field(object, "swa").is_null()) {
    reader.in("swa", [&] { census.swa = read_pool(reader, reader.field(object, "swa"), limit); });
  }
  if (!reader.field(object, "mapping").is_null()) {
    census.mapping = read_mapping(reader, object, limit);
  }
  if (!reader.field(object, "free_slots").is_null()) {
    census.free_slots = read_locs(reader, object, "free_slots", limit + max_reqs);
  }
  return census;
}

/// How many locs or stamps a call asks for.
Tokens asked_for(const Call& call) {
  Tokens tokens = 0;
  switch (call.method) {
    case Method::alloc:
      return call.first;
    case Method::alloc_extend:
    case Method::alloc_extend_swa_tail:
      for (std::size_t i = 0; i < call.seq_lens.size(); ++i) {
        tokens += call.seq_lens[i] - call.prefix_lens[i];
      }
      return tokens;
    case Method::alloc_decode:
      return static_cast<Tokens>(call.seq_lens.size());
    default:
      for (const LocRun& run : call.locs) {
        tokens += run.count;
      }
      return tokens;
  }
}

void read_served(Reader& reader, const Json& answer, const Call& call, std::int64_t entries, Reply& reply) {
  switch (call.method) {
    case Method::alloc:
    case Method::alloc_extend:
    case Method::alloc_decode:
    case Method::alloc_extend_swa_tail:
    case Method::translate:
      reply.locs = read_locs(reader, answer, "locs", 2 * asked_for(call) + spare_entries);
      return;
    case Method::take_slot:
      reply.slot = reader.number_field(answer, "slot");
      return;
    case Method::read_full:
    case Method::read_swa:
      reader.each_field(answer, "stamps", [&](const Json& stamp) {
        if (!stamp.is_number_unsigned()) {
          return reader.expected("a whole number from 0", stamp);
        }
        reply.stamps.push_back(stamp.get<Stamp>());
      });
      return;
    case Method::gauges:
      reader.in("gauges", [&] { reply.gauges = read_gauges(reader, reader.field(answer, "gauges")); });
      return;
    case Method::census:
      reader.in("census", [&] { reply.census = read_census(reader, reader.field(answer, "census"), entries); });
      return;
    default:
      return;
  }
}

bool answers_count(Method method) {
  return method == Method::translate || method == Method::read_full || method == Method::read_swa;
}

Reply read_reply(Reader& reader, const Json& answer, const Call& call, std::int64_t entries) {
  Reply reply;
  if (const Json& error = reader.field(answer, "error"); !error.is_null()) {
    reply.answer = Answer::failed;
    reply.error = read_error(reader, error);
    return reply;
  }
  if (const Json& refused = reader.field(answer, "refused"); !refused.is_null()) {
    reader.in("refused", [&] { reply.answer = reader.flag(refused) ? Answer::refused : Answer::served; });
    if (reply.answer == Answer::refused) {
      return reply;
    }
  }
  read_served(reader, answer, call, entries, reply);
  // Lending calls may answer another count: that is the allocator's fault, and the checks say so.
  if (!reader.failed() && answers_count(call.method) &&
      static_cast<Tokens>(std::max(reply.locs.size(), reply.stamps.size())) != asked_for(call)) {
    reader.expected(fmt::format("{} of {}", asked_for(call), method_name(call.method)), answer);
  }
  return reply;
}

// ---- requests

SlotRef read_slot(Reader& reader, const Json& call, std::size_t calls) {
  if (reader.field(call, "slot_of").is_null()) {
    return {reader.number_field(call, "slot"), LocRun::literal};
  }
  const std::int64_t of = reader.number_field(call, "slot_of", 0);
  if (of >= static_cast<std::int64_t>(calls)) {
    reader.in("slot_of", [&] { reader.expected("the number of an earlier call of the line", of); });
  }
  return {-1, static_cast<std::int32_t>(std::min<std::int64_t>(of, static_cast<std::int64_t>(calls)))};
}

std::vector<Pos> read_numbers(Reader& reader, const Json& call, const char* key) {
  std::vector<Pos> values;
  reader.each_field(call, key, [&](const Json& value) { values.push_back(reader.number(value, 0)); });
  return values;
}

void read_lending(Reader& reader, const Json& json, std::size_t calls, Call& call) {
  call.seq_lens = read_numbers(reader, json, "seq_lens");
  call.locs = read_runs(reader, json, "last_locs", calls);
  if (call.method != Method::alloc_decode) {
    call.prefix_lens = read_numbers(reader, json, "prefix_lens");
  } else {
    call.prefix_lens.assign(call.seq_lens.size(), 0);
  }
  if (call.method == Method::alloc_extend_swa_tail) {
    call.first = reader.number_field(json, "tail_len", 0);
    call.second = reader.number_field(json, "tail_end", 0);
  }
  const Tokens last_locs = std::accumulate(call.locs.begin(), call.locs.end(), Tokens{0},
                                           [](Tokens sum, const LocRun& run) { return sum + run.count; });
  bool agree = call.prefix_lens.size() == call.seq_lens.size() &&
               last_locs == static_cast<Tokens>(call.seq_lens.size()) && !call.seq_lens.empty();
  for (std::size_t i = 0; i < call.seq_lens.size() && agree; ++i) {
    agree = call.prefix_lens[i] <= call.seq_lens[i] && call.seq_lens[i] <= max_position;
  }
  if (!agree) {
    reader.expected("as many prefix_lens, seq_lens and last_locs, each prefix within its sequence", json);
  }
  if (call.method == Method::alloc_decode) {
    call.prefix_lens.clear();
  }
}

void read_segments(Reader& reader, const Json& json, std::size_t calls, Call& call) {
  reader.each_field(json, "segments", [&](const Json& segment) {
    call.segments.push_back({read_runs(reader, segment, "locs", calls), reader.number_field(segment, "start_pos", 0)});
  });
}

void read_stamps(Reader& reader, const Json& json, Call& call) {
  reader.each_field(json, "stamps", [&](const Json& stamp) {
    if (!stamp.is_number_unsigned()) {
      return reader.expected("a whole number from 0", stamp);
    }
    call.stamps.push_back(stamp.get<Stamp>());
  });
}

void read_swa_access(Reader& reader, const Json& json, std::size_t calls, Call& call) {
  call.locs = read_runs(reader, json, "locs", calls);
  call.slot = read_slot(reader, json, calls);
  call.first = reader.number_field(json, "first_pos", 0);
  if (call.method == Method::write_swa) {
    read_stamps(reader, json, call);
  }
}

void read_arguments(Reader& reader, const Json& json, std::size_t calls, Call& call) {
  switch (call.method) {
    case Method::alloc:
      call.first = reader.number_field(json, "tokens", 0);
      return;
    case Method::alloc_extend:
    case Method::alloc_decode:
    case Method::alloc_extend_swa_tail:
      return read_lending(reader, json, calls, call);
    case Method::free:
    case Method::free_swa:
    case Method::free_full:
    case Method::clear_full_to_swa_mapping:
    case Method::translate:
    case Method::read_full:
      call.locs = read_runs(reader, json, "locs", calls);
      return;
    case Method::free_segments:
    case Method::free_swa_segments:
    case Method::free_full_segments:
      return read_segments(reader, json, calls, call);
    case Method::free_group_begin:
    case Method::free_group_end:
      call.again = !reader.field(json, "again").is_null() && reader.flag(reader.field(json, "again"));
      return;
    case Method::set_full_to_swa_mapping:
      call.locs = read_runs(reader, json, "locs", calls);
      call.swa = read_runs(reader, json, "swa", calls);
      return;
    case Method::resize:
      call.first = reader.number_field(json, "full", 0);
      call.second = reader.number_field(json, "swa", 0);
      return;
    case Method::backup_state:
    case Method::restore_state:
      call.first = reader.number_field(json, "key", 0);
      return;
    case Method::give_slot:
      call.slot = read_slot(reader, json, calls);
      return;
    case Method::write_full:
      call.locs = read_runs(reader, json, "locs", calls);
      return read_stamps(reader, json, call);
    case Method::write_swa:
    case Method::read_swa:
      return read_swa_access(reader, json, calls, call);
    case Method::clear:
    case Method::take_slot:
    case Method::gauges:
    case Method::census:
      return;
  }
}

std::vector<Call> read_calls(Reader& reader, const Json& json) {
  std::vector<Call> calls;
  reader.each_field(json, "run", [&](const Json& item) {
    Call call;
    const std::optional<Method> method = method_from(reader.text_field(item, "call"));
    if (!method) {
      return reader.expected("the name of a call", reader.field(item, "call"));
    }
    call.method = *method;
    read_arguments(reader, item, calls.size(), call);
    calls.push_back(std::move(call));
  });
  return calls;
}

Geometry read_geometry(Reader& reader, const Json& json) {
  Geometry g;
  reader.in("reset", [&] {
    const Json& reset = reader.field(json, "reset");
    const std::optional<Layout> layout = layout_from(reader.text_field(reset, "layout"));
    if (!layout) {
      return reader.expected("a layout", reset);
    }
    g.layout = *layout;
    g.page = reader.number_field(reset, "page", 1);
    g.full = reader.number_field(reset, "full", 0);
    g.swa = reader.number_field(reset, "swa", 0);
    g.ring = reader.number_field(reset, "ring", 0);
    g.window = reader.number_field(reset, "window", 0);
    g.reqs = reader.number_field(reset, "reqs", 0);
    g.need_sort = reader.flag(reader.field(reset, "need_sort"));
  });
  return g;
}

}  // namespace

std::string_view method_name(Method method) { return method_names.at(static_cast<std::size_t>(method)); }

std::optional<Method> method_from(std::string_view name) {
  const auto* const found = std::find(method_names.begin(), method_names.end(), name);
  if (found == method_names.end()) {
    return std::nullopt;
  }
  return static_cast<Method>(found - method_names.begin());
}

Result<Capabilities, std::string> read_hello_answer(std::string_view line) {
  std::string error;
  const std::optional<Json> json = parse(line, error);
  if (!json) {
    return error;
  }
  Reader reader;
  Capabilities capabilities;
  const std::int64_t spoken = reader.number_field(*json, "poolproof");
  if (!reader.failed() && spoken != protocol_version) {
    return fmt::format("it speaks version {} of the protocol and we speak {}", spoken, protocol_version);
  }
  capabilities.name = reader.text_field(*json, "name");
  if (json->contains("version")) {
    capabilities.version = reader.text_field(*json, "version");
  }
  if (json->contains("notes")) {
    reader.each_field(*json, "notes", [&](const Json& note) { capabilities.notes.push_back(reader.text(note)); });
  }
  reader.each_field(*json, "pools", [&](const Json& pool) { capabilities.pools.push_back(read_kind(reader, pool)); });
  if (reader.failed()) {
    return reader.error();
  }
  return capabilities;
}

Result<std::optional<RaisedError>, std::string> read_reset_answer(std::string_view line) {
  std::string error;
  const std::optional<Json> json = parse(line, error);
  if (!json) {
    return error;
  }
  Reader reader;
  std::optional<RaisedError> raised;
  if (const Json& said = reader.field(*json, "error"); !said.is_null()) {
    raised = read_error(reader, said);
  } else if (reader.field(*json, "ok") != Json(true)) {
    reader.expected(R"({"ok": true} or an error)", *json);
  }
  if (reader.failed()) {
    return reader.error();
  }
  return raised;
}

Result<std::vector<Reply>, std::string> read_run_answer(std::string_view line, std::span<const Call> calls,
                                                        const Geometry& geometry) {
  std::string error;
  const std::optional<Json> json = parse(line, error);
  if (!json) {
    return error;
  }
  const std::int64_t entries = 4 * (geometry.full + geometry.swa + geometry.page) + spare_entries;
  Reader reader;
  std::vector<Reply> replies;
  reader.each_field(*json, "answers", [&](const Json& answer) {
    if (replies.size() == calls.size()) {
      return reader.expected(fmt::format("{} answers", calls.size()), answer);
    }
    replies.push_back(read_reply(reader, answer, calls[replies.size()], entries));
  });
  if (!reader.failed()) {
    const auto failed =
        std::find_if(replies.begin(), replies.end(), [](const Reply& reply) { return reply.answer == Answer::failed; });
    if (failed != replies.end() && failed + 1 != replies.end()) {
      return std::string("answers: an error must be the last answer of its line");
    }
    if (failed == replies.end() && replies.size() != calls.size()) {
      return fmt::format("answers: expected {}, got {}", calls.size(), replies.size());
    }
  }
  if (reader.failed()) {
    return reader.error();
  }
  return replies;
}

Result<Request, std::string> read_request(std::string_view line) {
  std::string error;
  const std::optional<Json> json = parse(line, error);
  if (!json) {
    return error;
  }
  Reader reader;
  std::optional<Request> request;
  if (json->contains("hello")) {
    request =
        HelloRequest{static_cast<int>(std::clamp<std::int64_t>(reader.number_field(*json, "poolproof"), 0, 1000))};
  } else if (json->contains("reset")) {
    request = read_geometry(reader, *json);
  } else if (json->contains("run")) {
    request = RunRequest{read_calls(reader, *json)};
  } else {
    reader.expected("a line with hello, reset or run", *json);
  }
  if (reader.failed()) {
    return reader.error();
  }
  return *std::move(request);
}

}  // namespace poolproof
