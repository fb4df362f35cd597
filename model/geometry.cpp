#include "model/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/faults.hpp"
#include "model/number.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, 4> layout_names = {"token", "paged", "hybrid", "pure_swa"};
constexpr std::array<std::string_view, 17> keys = {
    "layout",      "page",       "full",  "swa",      "ring",  "window",  "reqs",  "need_sort", "kv",
    "full_layers", "swa_layers", "heads", "head_dim", "dtype", "index_k", "saver", "weights"};

bool power_of_two(Tokens n) { return n > 0 && (n & (n - 1)) == 0; }

GeometryFault fault(std::string_view key, std::string message) { return {key, std::move(message)}; }

std::optional<std::string> page_size_fault(Tokens page) {
  if (!power_of_two(page) || page > max_page_tokens) {
    return fmt::format("page={} is not a power of two from 1 to {}", page, max_page_tokens);
  }
  return std::nullopt;
}

std::optional<GeometryFault> page_fault(const Geometry& g) {
  if (auto message = page_size_fault(g.page)) {
    return fault("page", *std::move(message));
  }
  if (g.page != 1 && (g.layout == Layout::token || g.layout == Layout::pure_swa)) {
    return fault("page", fmt::format("layout={} lends single slots and takes page=1, not page={}",
                                     layout_name(g.layout), g.page));
  }
  return std::nullopt;
}

std::optional<GeometryFault> sizes_fault(const Geometry& g) {
  if (g.full == 0) {
    return fault("full", "the pool has no size; give full=TOKENS or full=PAGESp");
  }
  if (auto message = pool_size_fault("full", g.full, g.page)) {
    return fault("full", *std::move(message));
  }
  if (!g.hybrid()) {
    if (g.swa != 0) {
      return fault("swa", fmt::format("layout={} has no SWA pool; leave swa out", layout_name(g.layout)));
    }
    return std::nullopt;
  }
  if (g.swa == 0) {
    return fault("swa", "layout=hybrid needs the size of its SWA pool; give swa=TOKENS or swa=PAGESp");
  }
  if (auto message = pool_size_fault("swa", g.swa, g.page)) {
    return fault("swa", *std::move(message));
  }
  return std::nullopt;
}

std::optional<GeometryFault> window_fault(const Geometry& g) {
  if (!g.sliding()) {
    if (g.window != 0) {
      return fault("window", fmt::format("layout={} has no sliding layers; leave window out", layout_name(g.layout)));
    }
    return std::nullopt;
  }
  if (g.window < 1) {
    return fault("window", fmt::format("layout={} slides and needs window=TOKENS, at least 1", layout_name(g.layout)));
  }
  if (g.window > max_pool_tokens) {
    return fault("window", fmt::format("window={} is larger than {} tokens", g.window, max_pool_tokens));
  }
  return std::nullopt;
}

std::optional<GeometryFault> reqs_fault(const Geometry& g) {
  if (g.reqs < 0 || g.reqs > max_reqs) {
    return fault("reqs", fmt::format("reqs={} is not a number of request slots from 0 to {}", g.reqs, max_reqs));
  }
  return std::nullopt;
}

std::optional<GeometryFault> ring_fault(const Geometry& g) {
  if (g.ring == 0) {
    return std::nullopt;
  }
  if (!g.hybrid()) {
    return fault("ring", fmt::format("layout={} takes no ring; only layout=hybrid does", layout_name(g.layout)));
  }
  if (g.reqs < 1) {
    return fault("reqs", "a ring lives in request slots; give reqs=N, at least 1");
  }
  if (g.ring < g.window) {
    return fault("ring",
                 fmt::format("ring={} does not hold window={}; give ring={} or more", g.ring, g.window, g.window));
  }
  // Slot 0 is padding and has ring rows as well.
  if (g.ring > max_pool_tokens / (g.reqs + 1)) {
    return fault("ring", fmt::format("{} request slots with ring={} are more than {} rows of SWA storage", g.reqs,
                                     g.ring, max_pool_tokens));
  }
  return std::nullopt;
}

/// A key that was given, of a pool whose `kv` does not take it.
std::optional<GeometryFault> stray_kv_key(const Geometry& g) {
  const KvShape& kv = g.kv;
  struct Given {
    std::string_view key;
    bool given;
  };
  const std::array<Given, 8> all = {{{"full_layers", kv.full_layers != 0},
                                     {"swa_layers", kv.swa_layers != 0},
                                     {"heads", kv.heads != 0},
                                     {"head_dim", kv.head_dim != 0},
                                     {"dtype", kv.type != KvType::bf16},
                                     {"index_k", kv.index_bytes != 0},
                                     {"saver", kv.saver != SaverMode::on},
                                     {"weights", kv.weights_bytes != 0}}};
  for (const Given& one : all) {
    if (kv.none() && one.given) {
      return fault(one.key,
                   fmt::format("{} is about the memory behind the pool; give kv=mha, kv=mla or kv=dsa too", one.key));
    }
  }
  if (kv.index_bytes != 0 && kv.kind != KvKind::dsa) {
    return fault("index_k", fmt::format("kv={} has no index-K; leave index_k out", kv_kind_name(kv.kind)));
  }
  if (kv.swa_layers != 0 && !g.hybrid()) {
    return fault("swa_layers", fmt::format("layout={} has no SWA layers; leave swa_layers out", layout_name(g.layout)));
  }
  return std::nullopt;
}

std::optional<GeometryFault> kv_size_fault(const KvShape& kv) {
  for (const auto& [key, layers] : {std::pair{"full_layers", kv.full_layers}, std::pair{"swa_layers", kv.swa_layers}}) {
    if (layers > max_kv_layers) {
      return fault(key, fmt::format("{}={} is more than {} layers", key, layers, max_kv_layers));
    }
  }
  // Factors first: their product must not overflow.
  const bool vast = kv.heads > max_row_bytes || kv.head_dim > max_row_bytes;
  if (vast || kv.row_bytes() > max_row_bytes) {
    return fault("head_dim", fmt::format("a token takes more than {} bytes a layer; give smaller heads or head_dim",
                                         max_row_bytes));
  }
  if (kv.row_bytes() < min_row_bytes) {
    return fault("head_dim", fmt::format("a token of {} bytes is too small to be told apart; it takes {} at least",
                                         kv.row_bytes(), min_row_bytes));
  }
  if (kv.index_row_bytes() < min_row_bytes || kv.index_row_bytes() > max_row_bytes) {
    return fault("index_k", fmt::format("index_k={} is not from {} to {} bytes a token", kv.index_bytes, min_row_bytes,
                                        max_row_bytes));
  }
  if (kv.weights_bytes > max_weights_bytes) {
    return fault("weights", fmt::format("weights={} is more than {} bytes", kv.weights_bytes, max_weights_bytes));
  }
  return std::nullopt;
}

std::optional<GeometryFault> kv_fault(const Geometry& g) {
  if (auto found = stray_kv_key(g)) {
    return found;
  }
  if (g.kv.none()) {
    return std::nullopt;
  }
  if (g.layout == Layout::pure_swa) {
    return fault("kv", "layout=pure_swa has no pool builder; the memory of token, paged and hybrid pools is known");
  }
  return kv_size_fault(g.kv);
}

std::string number_complaint(std::string_view key, std::string_view value, bool overflow, std::string_view remedy) {
  if (overflow) {
    return fmt::format("{}={}: number too large", key, printable_text(value));
  }
  return fmt::format("{}={}: {}", key, printable_text(value), remedy);
}

std::optional<std::string> set_tokens(Tokens& target, std::string_view key, std::string_view value, Tokens page) {
  bool overflow = false;
  const auto tokens = token_count(value, page, overflow);
  if (!tokens) {
    return number_complaint(key, value, overflow, "give tokens (4096) or pages (16p)");
  }
  target = *tokens;
  return std::nullopt;
}

std::optional<std::string> set_number(std::int64_t& target, std::string_view key, std::string_view value) {
  bool overflow = false;
  const auto number = whole_number(value, overflow);
  if (!number) {
    return number_complaint(key, value, overflow, "give a whole number");
  }
  target = *number;
  return std::nullopt;
}

/// At once, since sizes in pages are reckoned with it.
std::optional<std::string> set_page(Tokens& page, std::string_view value) {
  Tokens given = 0;
  auto complaint = set_number(given, "page", value);
  if (!complaint) {
    complaint = page_size_fault(given);
  }
  if (!complaint) {
    page = given;
  }
  return complaint;
}

std::optional<std::string> set_layout(Layout& layout, std::string_view value) {
  const auto known = layout_from(value);
  if (!known) {
    return fmt::format("unknown layout '{}'; there are token, paged, hybrid and pure_swa", printable_text(value));
  }
  layout = *known;
  return std::nullopt;
}

std::optional<std::string> set_flag(bool& flag, std::string_view key, std::string_view value) {
  if (value != "0" && value != "1") {
    return fmt::format("{}={}: give 0 or 1", key, printable_text(value));
  }
  flag = value == "1";
  return std::nullopt;
}

/// `there_are` names the values.
template <typename Value>
std::optional<std::string> set_named(Value& target, std::optional<Value> known, std::string_view key,
                                     std::string_view value, std::string_view there_are) {
  if (!known) {
    return fmt::format("{}={}: there are {}", key, printable_text(value), there_are);
  }
  target = *known;
  return std::nullopt;
}

/// A number of which 0 cannot be said: in the struct it stands for the default.
std::optional<std::string> set_count(std::int64_t& target, std::string_view key, std::string_view value) {
  auto complaint = set_number(target, key, value);
  if (!complaint && target == 0) {
    complaint = fmt::format("{}=0: give 1 or more, or leave it out", key);
  }
  return complaint;
}

std::optional<std::string> set_kv_key(KvShape& kv, std::string_view key, std::string_view value) {
  if (key == "kv") {
    return set_named(kv.kind, kv_kind_from(value), key, value, "mha, mla, dsa and none");
  }
  if (key == "full_layers") {
    return set_count(kv.full_layers, key, value);
  }
  if (key == "swa_layers") {
    return set_count(kv.swa_layers, key, value);
  }
  if (key == "heads") {
    return set_count(kv.heads, key, value);
  }
  if (key == "head_dim") {
    return set_count(kv.head_dim, key, value);
  }
  if (key == "dtype") {
    return set_named(kv.type, kv_type_from(value), key, value, "bf16, fp16, fp8 and fp32");
  }
  if (key == "index_k") {
    return set_count(kv.index_bytes, key, value);
  }
  if (key == "saver") {
    return set_named(kv.saver, saver_mode_from(value), key, value, "on, off and backup");
  }
  return set_number(kv.weights_bytes, key, value);
}

void append_kv(const KvShape& kv, std::string& text) {
  if (kv.none()) {
    return;
  }
  text += fmt::format(" kv={}", kv_kind_name(kv.kind));
  const auto number = [&](std::string_view key, std::int64_t value) {
    if (value != 0) {
      text += fmt::format(" {}={}", key, value);
    }
  };
  number("full_layers", kv.full_layers);
  number("swa_layers", kv.swa_layers);
  number("heads", kv.heads);
  number("head_dim", kv.head_dim);
  if (kv.type != KvType::bf16) {
    text += fmt::format(" dtype={}", kv_type_name(kv.type));
  }
  number("index_k", kv.index_bytes);
  if (kv.saver != SaverMode::on) {
    text += fmt::format(" saver={}", saver_mode_name(kv.saver));
  }
  number("weights", kv.weights_bytes);
}

std::string unknown_key(std::string_view key) {
  const std::string_view near = nearest_word(key, keys);
  if (!near.empty()) {
    return fmt::format("unknown key '{}', did you mean '{}'?", printable_text(key), near);
  }
  return fmt::format("unknown key '{}'; there are {}", printable_text(key), fmt::join(keys, ", "));
}

}  // namespace

std::optional<std::string> pool_size_fault(std::string_view key, Tokens tokens, Tokens page) {
  if (tokens < 1) {
    return fmt::format("{}={} is not a pool size; it is at least one page", key, tokens);
  }
  if (tokens > max_pool_tokens) {
    return fmt::format("{}={} is larger than {} tokens, the largest pool", key, tokens, max_pool_tokens);
  }
  if (tokens % page != 0) {
    return fmt::format("{0}={1} is not a multiple of page={2}; for {1} pages write {0}={1}p", key, tokens, page);
  }
  return std::nullopt;
}

std::optional<GeometryFault> find_geometry_fault(const Geometry& g) {
  for (const auto& check : {page_fault, sizes_fault, window_fault, reqs_fault, ring_fault, kv_fault}) {
    if (auto found = check(g)) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> geometry_fault(const Geometry& g) {
  auto found = find_geometry_fault(g);
  return found ? std::optional(std::move(found->message)) : std::nullopt;
}

std::span<const std::string_view> geometry_keys() { return keys; }

std::string_view layout_name(Layout layout) { return layout_names.at(static_cast<std::size_t>(layout)); }

std::optional<Layout> layout_from(std::string_view name) {
  for (std::size_t i = 0; i < layout_names.size(); ++i) {
    if (layout_names.at(i) == name) {
      return static_cast<Layout>(i);
    }
  }
  return std::nullopt;
}

std::string tokens_text(Tokens tokens, Tokens page) {
  if (page > 1 && tokens > 0 && tokens % page == 0) {
    return fmt::format("{}p", tokens / page);
  }
  return fmt::format("{}", tokens);
}

std::string to_string(const Geometry& g) {
  std::string text =
      fmt::format("layout={} page={} full={}", layout_name(g.layout), g.page, tokens_text(g.full, g.page));
  if (g.swa != 0) {
    text += fmt::format(" swa={}", tokens_text(g.swa, g.page));
  }
  if (g.ring != 0) {
    text += fmt::format(" ring={}", g.ring);
  }
  if (g.window != 0) {
    text += fmt::format(" window={}", g.window);
  }
  if (g.reqs != 0) {
    text += fmt::format(" reqs={}", g.reqs);
  }
  if (g.need_sort) {
    text += " need_sort=1";
  }
  append_kv(g.kv, text);
  return text;
}

std::optional<Tokens> parse_tokens(std::string_view text, Tokens page) {
  bool overflow = false;
  return token_count(text, page, overflow);
}

std::optional<std::string> set_geometry_key(Geometry& g, std::string_view key, std::string_view value) {
  if (key == "layout") {
    return set_layout(g.layout, value);
  }
  if (key == "page") {
    return set_page(g.page, value);
  }
  if (key == "full") {
    return set_tokens(g.full, key, value, g.page);
  }
  if (key == "swa") {
    return set_tokens(g.swa, key, value, g.page);
  }
  if (key == "ring") {
    return set_tokens(g.ring, key, value, g.page);
  }
  if (key == "window") {
    return set_tokens(g.window, key, value, g.page);
  }
  if (key == "reqs") {
    return set_number(g.reqs, key, value);
  }
  if (key == "need_sort") {
    return set_flag(g.need_sort, key, value);
  }
  const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
  return known ? set_kv_key(g.kv, key, value) : unknown_key(key);
}

}  // namespace poolproof
