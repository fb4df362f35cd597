#include "model/geometry.hpp"

#include <fmt/format.h>

#include <array>

#include "model/faults.hpp"
#include "model/number.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, 4> layout_names = {"token", "paged", "hybrid", "pure_swa"};
constexpr std::array<std::string_view, 8> keys = {"layout", "page",   "full", "swa",
                                                  "ring",   "window", "reqs", "need_sort"};

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
  for (const auto& check : {page_fault, sizes_fault, window_fault, reqs_fault, ring_fault}) {
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
  return unknown_key(key);
}

}  // namespace poolproof
