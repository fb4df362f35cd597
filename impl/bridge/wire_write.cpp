#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "impl/bridge/wire.hpp"

namespace poolproof {
namespace {

// Runs and numbers are most of a line, so they are formatted at once; only text goes through the JSON library.

using Out = std::back_insert_iterator<std::string>;

template <typename Items, typename Write>
void list(std::string& out, const Items& items, const Write& write) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) {
      out += ',';
    }
    first = false;
    write(item);
  }
  out += ']';
}

template <typename Number>
void numbers(std::string& out, std::string_view key, const std::vector<Number>& values) {
  fmt::format_to(Out(out), ",\"{}\":", key);
  list(out, values, [&](Number value) { fmt::format_to(Out(out), "{}", value); });
}

void runs(std::string& out, std::string_view key, const LocRuns& values) {
  fmt::format_to(Out(out), "\"{}\":", key);
  list(out, values, [&](const LocRun& run) {
    if (run.of == LocRun::literal) {
      fmt::format_to(Out(out), "[{},{}]", run.first, run.count);
    } else if (run.shift == LocRun::none) {
      fmt::format_to(Out(out), "[{},{},{}]", run.of, run.first, run.count);
    } else {
      fmt::format_to(Out(out), "[{},{},{},{}]", run.of, run.first, run.shift, run.count);
    }
  });
}

void number(std::string& out, std::string_view key, std::int64_t value) {
  fmt::format_to(Out(out), ",\"{}\":{}", key, value);
}

void slot(std::string& out, const SlotRef& slot) {
  if (slot.of == LocRun::literal) {
    number(out, "slot", slot.slot);
  } else {
    number(out, "slot_of", slot.of);
  }
}

void locs(std::string& out, std::string_view key, const LocRuns& values) {
  out += ',';
  runs(out, key, values);
}

void segments(std::string& out, const std::vector<SegmentRuns>& values) {
  out += ",\"segments\":";
  list(out, values, [&](const SegmentRuns& segment) {
    out += '{';
    runs(out, "locs", segment.locs);
    number(out, "start_pos", segment.start_pos);
    out += '}';
  });
}

void lending_arguments(std::string& out, const Call& call) {
  if (call.method != Method::alloc_decode) {
    numbers(out, "prefix_lens", call.prefix_lens);
  }
  numbers(out, "seq_lens", call.seq_lens);
  locs(out, "last_locs", call.locs);
  if (call.method == Method::alloc_extend_swa_tail) {
    number(out, "tail_len", call.first);
    number(out, "tail_end", call.second);
  }
}

void swa_arguments(std::string& out, const Call& call) {
  locs(out, "locs", call.locs);
  slot(out, call.slot);
  number(out, "first_pos", call.first);
  if (call.method == Method::write_swa) {
    numbers(out, "stamps", call.stamps);
  }
}

void arguments(std::string& out, const Call& call) {
  switch (call.method) {
    case Method::alloc:
      return number(out, "tokens", call.first);
    case Method::alloc_extend:
    case Method::alloc_decode:
    case Method::alloc_extend_swa_tail:
      return lending_arguments(out, call);
    case Method::free:
    case Method::free_swa:
    case Method::free_full:
    case Method::clear_full_to_swa_mapping:
    case Method::translate:
    case Method::read_full:
      return locs(out, "locs", call.locs);
    case Method::free_segments:
    case Method::free_swa_segments:
    case Method::free_full_segments:
      return segments(out, call.segments);
    case Method::set_full_to_swa_mapping:
      locs(out, "locs", call.locs);
      return locs(out, "swa", call.swa);
    case Method::resize:
      number(out, "full", call.first);
      return number(out, "swa", call.second);
    case Method::backup_state:
    case Method::restore_state:
      return number(out, "key", call.first);
    case Method::give_slot:
      return slot(out, call.slot);
    case Method::write_full:
      locs(out, "locs", call.locs);
      return numbers(out, "stamps", call.stamps);
    case Method::write_swa:
    case Method::read_swa:
      return swa_arguments(out, call);
    case Method::free_group_begin:
    case Method::free_group_end:
      if (call.again) {
        out += ",\"again\":true";
      }
      return;
    case Method::clear:
    case Method::take_slot:
    case Method::gauges:
    case Method::census:
      return;
  }
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// ---- answers

void pages(std::string& out, std::string_view key, const std::vector<std::int64_t>& values) {
  runs(out, key, literal_runs(values));
}

void told_pool(std::string& out, std::string_view key, const ToldPool& pool) {
  fmt::format_to(Out(out), "\"{}\":{{", key);
  pages(out, "free", pool.free);
  out += ',';
  pages(out, "staged", pool.staged);
  if (pool.deferred) {
    out += ',';
    pages(out, "deferred", *pool.deferred);
  }
  out += '}';
}

void census_answer(std::string& out, const ToldCensus& census) {
  out += "{\"census\":{";
  told_pool(out, "full", census.full);
  out += ',';
  told_pool(out, "swa", census.swa);
  out += ",\"mapping\":";
  list(out, census.mapping,
       [&](const MappedRun& run) { fmt::format_to(Out(out), "[{},{},{}]", run.full, run.swa, run.count); });
  out += ',';
  pages(out, "free_slots", census.free_slots);
  out += "}}";
}

void gauges_answer(std::string& out, const ToldGauges& gauges) {
  std::string fields;
  const auto field = [&](std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) {
      number(fields, key, *value);
    }
  };
  field("available", gauges.available);
  field("size", gauges.size);
  field("full_available", gauges.full_available);
  field("full_size", gauges.full_size);
  field("swa_available", gauges.swa_available);
  field("swa_size", gauges.swa_size);
  field("swa_pool_available", gauges.swa_pool_available);
  field("swa_pool_size", gauges.swa_pool_size);
  field("slots_free", gauges.slots_free);
  field("slots", gauges.slots);
  field("mapping_tail", gauges.mapping_tail);
  fmt::format_to(Out(out), "{{\"gauges\":{{{}}}}}", std::string_view(fields).substr(fields.empty() ? 0 : 1));
}

void served_answer(std::string& out, Method method, const Reply& reply) {
  switch (method) {
    case Method::alloc:
    case Method::alloc_extend:
    case Method::alloc_decode:
    case Method::alloc_extend_swa_tail:
    case Method::translate:
      out += '{';
      runs(out, "locs", literal_runs(reply.locs));
      out += '}';
      return;
    case Method::take_slot:
      fmt::format_to(Out(out), "{{\"slot\":{}}}", reply.slot);
      return;
    case Method::read_full:
    case Method::read_swa:
      out += "{\"stamps\":";
      list(out, reply.stamps, [&](Stamp stamp) { fmt::format_to(Out(out), "{}", stamp); });
      out += '}';
      return;
    case Method::gauges:
      return gauges_answer(out, reply.gauges.value_or(ToldGauges{}));
    case Method::census:
      return census_answer(out, reply.census.value_or(ToldCensus{}));
    default:
      out += "{}";
  }
}

std::string error_json(const RaisedError& error) {
  return fmt::format(R"({{"error":{{"type":{},"text":{},"where":{}}}}})", json_text(error.type), json_text(error.text),
                     json_text(error.where));
}

std::string bools_json(bool off, bool on) {
  return fmt::format("[{}{}{}]", off ? "false" : "", off && on ? "," : "", on ? "true" : "");
}

}  // namespace

std::string write_hello(std::string_view our_version) {
  return fmt::format(R"({{"poolproof":{},"hello":{{"version":{}}}}})", protocol_version, json_text(our_version));
}

std::string write_reset(const Geometry& g) {
  return fmt::format(
      R"({{"reset":{{"layout":"{}","page":{},"full":{},"swa":{},"ring":{},"window":{},"reqs":{},"need_sort":{}}}}})",
      layout_name(g.layout), g.page, g.full, g.swa, g.ring, g.window, g.reqs, g.need_sort);
}

std::string write_run(std::span<const Call> calls) {
  std::string out = "{\"run\":";
  list(out, calls, [&](const Call& call) {
    fmt::format_to(Out(out), "{{\"call\":\"{}\"", method_name(call.method));
    arguments(out, call);
    out += '}';
  });
  return out + "}";
}

std::string write_capabilities(const Capabilities& capabilities) {
  std::string out = fmt::format(R"({{"poolproof":{},"name":{},"version":{},"notes":)", protocol_version,
                                json_text(capabilities.name), json_text(capabilities.version));
  list(out, capabilities.notes, [&](const std::string& note) { out += json_text(note); });
  out += ",\"pools\":";
  list(out, capabilities.pools, [&](const PoolKind& kind) {
    fmt::format_to(Out(out), R"({{"layout":"{}","page":[{},{}],"ring":{},"need_sort":{},"calls":)",
                   layout_name(kind.layout), kind.page_min, kind.page_max, bools_json(kind.ring_off, kind.ring_on),
                   bools_json(kind.sort_off, kind.sort_on));
    std::vector<Offer> offered;
    for (std::size_t i = 0; i < offer_count; ++i) {
      if (kind.offers.test(i)) {
        offered.push_back(static_cast<Offer>(i));
      }
    }
    list(out, offered, [&](Offer offer) { fmt::format_to(Out(out), "\"{}\"", offer_name(offer)); });
    out += '}';
  });
  return out + "}";
}

std::string write_reset_answer(const std::string& error) {
  return error.empty() ? R"({"ok":true})" : error_json({{}, error, {}});
}

std::string write_run_answer(std::span<const Call> calls, std::span<const Reply> replies) {
  std::string out = "{\"answers\":[";
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Reply& reply = replies[i];
    out += i == 0 ? "" : ",";
    if (reply.answer == Answer::served) {
      served_answer(out, calls[i].method, reply);
    } else {
      out += reply.answer == Answer::refused ? R"({"refused":true})" : error_json(reply.error.value_or(RaisedError{}));
    }
  }
  return out + "]}";
}

}  // namespace poolproof
