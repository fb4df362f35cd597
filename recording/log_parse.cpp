#include "recording/log_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/ops.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

constexpr int log_version = 1;
/// Locs that the runs of one call may stand for: every token of the largest pool, twice.
constexpr std::int64_t most_locs = 2 * max_pool_tokens;

struct KindName {
  std::string_view name;
  LogCallKind kind;
  Side side = Side::both;
};

constexpr std::array<KindName, 28> kind_names{{
    {"alloc", LogCallKind::alloc},
    {"alloc_extend", LogCallKind::extend},
    {"alloc_decode", LogCallKind::decode},
    {"alloc_extend_swa_tail", LogCallKind::tail},
    {"free", LogCallKind::free},
    {"free_swa", LogCallKind::free, Side::swa},
    {"free_full", LogCallKind::free, Side::full},
    {"free_segments", LogCallKind::free_segments},
    {"free_swa_segments", LogCallKind::free_segments, Side::swa},
    {"free_full_segments", LogCallKind::free_segments, Side::full},
    {"free_group_begin", LogCallKind::group_begin},
    {"free_group_end", LogCallKind::group_end},
    {"set_full_to_swa_mapping", LogCallKind::set_mapping},
    {"clear_full_to_swa_mapping", LogCallKind::clear_mapping},
    {"clear", LogCallKind::clear},
    {"resize", LogCallKind::resize},
    {"backup_state", LogCallKind::backup},
    {"restore_state", LogCallKind::restore},
    {"take_slot", LogCallKind::take_slot},
    {"give_slot", LogCallKind::give_slot},
    {"translate", LogCallKind::look},
    {"translate_loc_from_full_to_swa", LogCallKind::look},
    {"write_full", LogCallKind::look},
    {"read_full", LogCallKind::look},
    {"write_swa", LogCallKind::look},
    {"read_swa", LogCallKind::look},
    {"gauges", LogCallKind::look},
    {"census", LogCallKind::look},
}};

bool integer_within(const Json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) {
    return false;
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  return number >= least && number <= most;
}

/// Reads the keys of one object; the first thing that is wrong is kept.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  [[nodiscard]] const Json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  [[nodiscard]] bool null(const char* key) const {
    const Json* value = find(key);
    return value != nullptr && value->is_null();
  }

  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most) {
    const Json* value = find(key);
    if (value != nullptr && integer_within(*value, least, most)) {
      return value->get<std::int64_t>();
    }
    wrong(key, value, fmt::format("a whole number from {} to {}", least, most));
    return least;
  }
  std::int64_t integer_or(const char* key, std::int64_t least, std::int64_t most, std::int64_t missing) {
    return find(key) == nullptr ? missing : integer(key, least, most);
  }
  std::string text(const char* key) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) {
      return {};
    }
    if (!value->is_string()) {
      wrong(key, value, "a string");
      return {};
    }
    return value->get<std::string>();
  }
  bool flag(const char* key, bool missing) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      wrong(key, value, "true or false");
    }
    return value != nullptr && value->is_boolean() ? value->get<bool>() : missing;
  }
  void integers(const char* key, std::int64_t least, std::int64_t most, std::vector<std::int64_t>& out) {
    const Json* value = find(key);
    const std::string expected = fmt::format("an array of whole numbers from {} to {}", least, most);
    if (value == nullptr || !value->is_array()) {
      return wrong(key, value, expected);
    }
    for (const Json& number : *value) {
      if (!integer_within(number, least, most)) {
        return wrong(key, &number, expected);
      }
      out.push_back(number.get<std::int64_t>());
    }
  }
  void runs(const char* key, LoggedRuns& out) {
    const Json* value = find(key);
    const std::string expected = "an array of runs [first, count], count from 1 on";
    if (value == nullptr || !value->is_array()) {
      return wrong(key, value, expected);
    }
    std::int64_t total = 0;
    for (const Json& run : *value) {
      const bool shaped = run.is_array() && run.size() == 2 && integer_within(run[0], -most_locs, most_locs) &&
                          integer_within(run[1], 1, most_locs);
      if (!shaped) {
        return wrong(key, &run, expected);
      }
      out.push_back({run[0].get<Loc>(), run[1].get<std::int64_t>()});
      total += out.back().count;
      if (total > most_locs) {
        return wrong(key, nullptr, fmt::format("at most {} locs in one call", most_locs));
      }
    }
  }
  void wrong(const char* key, const Json* value, std::string expected) {
    if (fault_) {
      return;
    }
    if (value == nullptr) {
      fault_ = {fmt::format("'{}' is missing", key), std::move(expected)};
    } else {
      fault_ = {fmt::format("'{}' has {}", key, shown(*value)), std::move(expected)};
    }
  }
  std::optional<LineFault> take_fault() { return std::move(fault_); }

 private:
  static std::string shown(const Json& value) {
    constexpr std::size_t longest = 40;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
  }

  const Json& object_;
  std::optional<LineFault> fault_;
};

void read_gauges(Fields& fields, const char* full, const char* swa, LogGauges& out) {
  const auto gauge = [&](const char* key) -> std::optional<Tokens> {
    const Json* value = fields.find(key);
    if (value == nullptr || value->is_null()) {
      return std::nullopt;
    }
    // A broken allocator may report anything; that is for the verdict, not a malformed log.
    return fields.integer(key, std::numeric_limits<std::int32_t>::min(), std::int64_t{1} << 40U);
  };
  out.full = gauge(full);
  out.swa = gauge(swa);
}

std::optional<LineFault> read_geometry(const Json& object, Geometry& g) {
  Fields fields(object);
  const std::string name = fields.text("layout");
  const std::optional<Layout> layout = layout_from(name);
  if (!layout) {
    return LineFault{fmt::format("the geometry's layout is '{}'", name), "token, paged, hybrid or pure_swa"};
  }
  g = Geometry{};
  g.layout = *layout;
  g.page = fields.integer("page", 1, max_page_tokens);
  g.full = fields.integer("full", 1, max_pool_tokens);
  g.swa = g.hybrid() ? fields.integer("swa", 1, max_pool_tokens) : 0;
  g.ring = g.hybrid() ? fields.integer_or("ring", 0, max_pool_tokens, 0) : 0;
  g.window = g.sliding() ? fields.integer("window", 1, max_pool_tokens) : 0;
  g.reqs = fields.integer_or("reqs", 0, max_reqs, 0);
  g.need_sort = fields.flag("need_sort", false);
  if (std::optional<LineFault> fault = fields.take_fault()) {
    return LineFault{"in the geometry " + fault->message, fault->expected};
  }
  if (const std::optional<std::string> fault = geometry_fault(g)) {
    return LineFault{"the geometry cannot be: " + *fault, {}};
  }
  return std::nullopt;
}

std::optional<LineFault> read_header(const Json& object, LogRecord& out) {
  Fields fields(object);
  out.line = LogLine::header;
  if (fields.integer("poolproof_log", 0, std::numeric_limits<std::int32_t>::max()) != log_version) {
    return fields.take_fault().value_or(
        LineFault{"the log is of another version", fmt::format("poolproof_log {}", log_version)});
  }
  constexpr std::int64_t most = std::int64_t{1} << 60U;
  LogHeader& header = out.header;
  header.session = fields.text("session");
  header.engine = fields.text("engine");
  header.allocator_class = fields.text("class");
  header.file = static_cast<std::uint64_t>(fields.integer_or("file", 0, most, 0));
  header.fresh = fields.flag("fresh", true);
  out.n = static_cast<std::uint64_t>(fields.integer_or("n", 0, most, 0));
  header.gauges = {};
  const Json* geometry = fields.find("geometry");
  if (geometry == nullptr || !geometry->is_object()) {
    fields.wrong("geometry", geometry, "an object with layout, page, full, ...");
  } else if (std::optional<LineFault> fault = read_geometry(*geometry, header.geometry)) {
    return fault;
  }
  if (const Json* gauges = fields.find("gauges"); gauges != nullptr && gauges->is_object()) {
    Fields counts(*gauges);
    read_gauges(counts, "full_available", "swa_available", header.gauges);
    if (std::optional<LineFault> fault = counts.take_fault()) {
      return fault;
    }
  }
  return fields.take_fault();
}

/// Lending calls: prefix and sequence lengths that belong together.
std::optional<LineFault> check_lengths(const LogCall& call) {
  const std::size_t count = call.seq_lens.size();
  if (call.prefix_lens.size() != count || call.last_locs.size() != count) {
    return LineFault{fmt::format("{} prefix_lens, {} seq_lens and {} last_locs", call.prefix_lens.size(), count,
                                 call.last_locs.size()),
                     "as many of each"};
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (call.prefix_lens[i] > call.seq_lens[i]) {
      return LineFault{fmt::format("request {} has prefix length {} and sequence length {}", i, call.prefix_lens[i],
                                   call.seq_lens[i]),
                       "a prefix no longer than the sequence"};
    }
  }
  return std::nullopt;
}

void expand(const LoggedRuns& runs, std::size_t most, Locs& out) {
  for (const LoggedRun& run : runs) {
    for (std::int64_t i = 0; i < run.count && out.size() < most; ++i) {
      out.push_back(run.first + i);
    }
  }
}

void read_answer(Fields& fields, LogCall& call) {
  call.served = !call.error && !fields.null("locs");
  if (call.served) {
    fields.runs("locs", call.locs);
  }
}

std::optional<LineFault> read_batch(Fields& fields, LogCall& call) {
  const bool decode = call.kind == LogCallKind::decode;
  fields.integers("seq_lens", decode ? 1 : 0, max_position, call.seq_lens);
  if (decode) {
    for (const Pos seq : call.seq_lens) {
      call.prefix_lens.push_back(seq - 1);
    }
  } else {
    fields.integers("prefix_lens", 0, max_position, call.prefix_lens);
  }
  LoggedRuns last_locs;
  fields.runs("last_locs", last_locs);
  expand(last_locs, call.seq_lens.size() + 1, call.last_locs);
  if (call.kind == LogCallKind::tail) {
    call.tail_len = fields.integer("tail_len", 0, max_position);
    call.tail_end = fields.integer("tail_end", 0, max_position);
  }
  read_answer(fields, call);
  std::optional<LineFault> fault = fields.take_fault();
  return fault ? fault : check_lengths(call);
}

std::optional<LineFault> read_segments(Fields& fields, LogCall& call) {
  const Json* segments = fields.find("segments");
  if (segments == nullptr || !segments->is_array()) {
    fields.wrong("segments", segments, "an array of {\"locs\": runs, \"start_pos\": n}");
    return fields.take_fault();
  }
  for (const Json& segment : *segments) {
    if (!segment.is_object()) {
      return LineFault{"a segment is no object", "{\"locs\": runs, \"start_pos\": n}"};
    }
    Fields inner(segment);
    LogSegment& read = call.segments.emplace_back();
    inner.runs("locs", read.locs);
    read.start_pos = inner.integer("start_pos", 0, max_position);
    if (std::optional<LineFault> fault = inner.take_fault()) {
      return fault;
    }
  }
  return std::nullopt;
}

/// A call's own `swa` (runs, a size) and the gauge of that name are told apart by shape; names of their own come first.
void read_mapping(Fields& fields, LogCall& call) {
  fields.runs("locs", call.locs);
  if (call.kind == LogCallKind::set_mapping) {
    fields.runs(fields.find("swa_locs") != nullptr ? "swa_locs" : "swa", call.swa_locs);
  }
}

void read_resize(Fields& fields, LogCall& call) {
  call.full_size = fields.integer(fields.find("full_size") != nullptr ? "full_size" : "full", 1, max_pool_tokens);
  const char* swa = fields.find("swa_size") != nullptr ? "swa_size" : "swa";
  call.swa_size = fields.find(swa) == nullptr || fields.null(swa) ? 0 : fields.integer(swa, 0, max_pool_tokens);
}

void read_slot(Fields& fields, LogCall& call) {
  call.served = !call.error && !fields.null("slot");
  if (call.served || call.kind == LogCallKind::give_slot) {
    call.slot = fields.integer("slot", -1, max_reqs);
  }
}

std::optional<LineFault> read_arguments(Fields& fields, LogCall& call) {
  switch (call.kind) {
    case LogCallKind::alloc:
      call.tokens = fields.integer("tokens", 0, max_pool_tokens);
      read_answer(fields, call);
      break;
    case LogCallKind::extend:
    case LogCallKind::decode:
    case LogCallKind::tail:
      return read_batch(fields, call);
    case LogCallKind::free:
      fields.runs("locs", call.locs);
      break;
    case LogCallKind::free_segments:
      return read_segments(fields, call);
    case LogCallKind::group_begin:
    case LogCallKind::group_end:
      call.again = fields.flag("again", false);
      break;
    case LogCallKind::set_mapping:
    case LogCallKind::clear_mapping:
      read_mapping(fields, call);
      break;
    case LogCallKind::resize:
      read_resize(fields, call);
      break;
    case LogCallKind::backup:
    case LogCallKind::restore:
      call.key =
          fields.integer("key", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
      break;
    case LogCallKind::take_slot:
    case LogCallKind::give_slot:
      read_slot(fields, call);
      break;
    case LogCallKind::clear:
    case LogCallKind::look:
      break;
  }
  return fields.take_fault();
}

std::optional<LineFault> read_error(Fields& fields, LogCall& call) {
  const Json* error = fields.find("error");
  if (error == nullptr || error->is_null()) {
    return std::nullopt;
  }
  if (!error->is_object()) {
    fields.wrong("error", error, "an object with type, text and where");
    return fields.take_fault();
  }
  Fields inner(*error);
  call.error = LogError{inner.text("type"), inner.text("text"), inner.text("where")};
  return inner.take_fault();
}

/// Keeps the buffers.
void reset(LogCall& call) {
  call.side = Side::both;
  call.served = true;
  call.again = false;
  call.prefix_lens.clear();
  call.seq_lens.clear();
  call.last_locs.clear();
  call.tokens = call.tail_len = call.tail_end = 0;
  call.locs.clear();
  call.swa_locs.clear();
  call.segments.clear();
  call.full_size = call.swa_size = 0;
  call.key = 0;
  call.slot = -1;
  call.error.reset();
  call.gauges = {};
}

/// Where an argument of the call has the gauge's name, the number is the gauge.
void read_call_gauges(Fields& fields, LogCall& call) {
  const bool runs_there =
      call.kind == LogCallKind::set_mapping && fields.find("swa") != nullptr && fields.find("swa")->is_array();
  read_gauges(fields, "full", runs_there ? "" : "swa", call.gauges);
}

std::optional<LineFault> read_call(const Json& object, LogRecord& out) {
  Fields fields(object);
  out.line = LogLine::call;
  LogCall& call = out.call;
  reset(call);
  const std::string name = fields.text("call");
  const auto known =
      std::find_if(kind_names.begin(), kind_names.end(), [&](const KindName& k) { return k.name == name; });
  if (known == kind_names.end()) {
    return fields.take_fault().value_or(LineFault{fmt::format("no call is named '{}'", name.substr(0, 40)),
                                                  "a call of docs/external.md, such as alloc_extend"});
  }
  call.kind = known->kind;
  call.name = known->name;
  call.side = known->side;
  std::optional<LineFault> fault = read_error(fields, call);
  if (!fault) {
    read_call_gauges(fields, call);
    fault = read_arguments(fields, call);
  }
  return fault;
}

}  // namespace

std::optional<LineFault> parse_log_line(std::string_view line, LogRecord& out) {
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::parse_error& error) {
    return LineFault{fmt::format("byte {} is no JSON", error.byte), "one JSON object a line"};
  } catch (const Json::exception&) {  // a number beyond any range
    return LineFault{"a number is out of range", "one JSON object a line"};
  }
  if (!object.is_object()) {
    return LineFault{"the line is no JSON object", "a header, a call or a loss"};
  }
  if (object.contains("poolproof_log")) {
    return read_header(object, out);
  }
  Fields fields(object);
  constexpr std::int64_t most = std::int64_t{1} << 60U;
  out.n = static_cast<std::uint64_t>(fields.integer("n", 0, most));
  if (object.contains("lost")) {
    out.line = LogLine::loss;
    out.lost = static_cast<std::uint64_t>(fields.integer("lost", 1, most));
    return fields.take_fault();
  }
  if (!object.contains("call")) {
    fields.wrong("call", nullptr, "a header, a call or a loss");
  }
  std::optional<LineFault> fault = fields.take_fault();
  return fault ? fault : read_call(object, out);
}

}  // namespace poolproof
