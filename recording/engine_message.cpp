#include "recording/engine_message.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace poolproof {
namespace {

/// `name=value` of the text, the name without the objects in front of it: self.tree_cache.evictable_size()=7 is
/// evictable_size=7. `section` is the last [word] before it.
struct Pair {
  std::string name;
  std::string owner;  ///< the object, "token_to_kv_pool_allocator" of ....size
  Tokens value = 0;
  std::string section;
};

constexpr std::string_view slot_leak = "req_to_token_pool memory leak detected!";

bool name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

class PairReader {
 public:
  explicit PairReader(std::string_view text) : text_(text) {}

  std::vector<Pair> read() {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (text_.substr(at).starts_with(slot_leak)) {
        section_.clear();  // its counts are slots, of no pool
      } else if (text_[at] == '[') {
        read_section(at);
      } else if (text_[at] == '=') {
        read_pair(at);
      }
    }
    return std::move(pairs_);
  }

 private:
  void read_section(std::size_t at) {
    const std::size_t end = text_.find(']', at);
    if (end == std::string_view::npos) {
      return;
    }
    const std::string_view word = text_.substr(at + 1, end - at - 1);
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return std::islower(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
             c == '-';
    });
    if (plain) {
      section_ = word;
    }
  }

  void read_pair(std::size_t equals) {
    std::size_t begin = equals;
    if (text_.substr(0, begin).ends_with("()")) {
      begin -= 2;
    }
    const std::size_t end = begin;
    while (begin > 0 && name_char(text_[begin - 1])) {
      --begin;
    }
    Pair pair;
    const std::string_view path = text_.substr(begin, end - begin);
    std::string_view number = text_.substr(equals + 1);
    number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
    const auto [last, error] = std::from_chars(number.data(), number.data() + number.size(), pair.value);
    if (path.empty() || error != std::errc()) {
      return;
    }
    const std::size_t dot = path.rfind('.');
    pair.name = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
    const std::string_view owner = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    pair.owner = owner.substr(owner.rfind('.') == std::string_view::npos ? 0 : owner.rfind('.') + 1);
    pair.section = section_;
    pairs_.push_back(std::move(pair));
  }

  std::string_view text_;
  std::string section_;
  std::vector<Pair> pairs_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), pairs_(PairReader(text).read()) {}

  EngineMessage read();

 private:
  [[nodiscard]] std::optional<Tokens> value(std::string_view name, std::string_view owner = {}) const {
    // The newest: a log may hold the same check many times.
    const auto at = std::find_if(pairs_.rbegin(), pairs_.rend(), [&](const Pair& pair) {
      return pair.name == name && (owner.empty() || pair.owner == owner);
    });
    return at == pairs_.rend() ? std::nullopt : std::optional(at->value);
  }
  [[nodiscard]] bool has(std::string_view part) const { return text_.find(part) != std::string_view::npos; }
  void read_sections();
  void read_named(std::string_view pool);
  void read_single();
  void read_total_alone();
  void read_mamba();
  void read_slots();
  void read_out_of_memory();

  std::string_view text_;
  std::vector<Pair> pairs_;
  EngineMessage message_;
};

constexpr std::array<std::string_view, 5> part_names{"available", "evictable", "protected", "session_held", "uncached"};

/// "[swa] total=..., available=..., ..." of the later releases: each section once, the newest one counts.
void Reader::read_sections() {
  for (const Pair& pair : pairs_) {
    const bool part = std::find(part_names.begin(), part_names.end(), pair.name) != part_names.end();
    if (pair.section.empty() || (!part && pair.name != "total")) {
      continue;
    }
    auto sum = std::find_if(message_.sums.begin(), message_.sums.end(),
                            [&](const PoolSum& known) { return known.pool == pair.section; });
    if (sum == message_.sums.end()) {
      message_.sums.push_back({pair.section, 0, {}, pair.section == "swa" && has("unified ring")});
      sum = message_.sums.end() - 1;
    }
    if (pair.name == "total") {
      sum->total = pair.value;
      continue;
    }
    const auto known =
        std::find_if(sum->parts.begin(), sum->parts.end(), [&](const CountedPart& p) { return p.name == pair.name; });
    if (known == sum->parts.end()) {
      sum->parts.push_back({pair.name, pair.value});
    } else {
      known->tokens = pair.value;
    }
  }
  std::erase_if(message_.sums, [](const PoolSum& sum) { return sum.total == 0 || sum.parts.empty(); });
}

/// "self.swa_tokens_per_layer=..., swa_available_size=..., ..." of 0.5.2 to 0.5.10.
void Reader::read_named(std::string_view pool) {
  const std::string name(pool);
  const std::optional<Tokens> total = value(name + "_tokens_per_layer");
  const std::optional<Tokens> available = value(name + "_available_size");
  if (!total || !available) {
    return;
  }
  PoolSum sum{name, *total, {{"available", *available}}, false};
  const std::optional<Tokens> in_tree = value(name + "_protected_size");
  const std::optional<Tokens> protected_tokens = in_tree ? in_tree : value(name + "_protected");
  const std::array<std::pair<const char*, std::optional<Tokens>>, 3> parts{
      {{"evictable", value(name + "_evictable_size")},
       {"protected", protected_tokens},
       {"session_held", value("session_held_" + name)}}};
  for (const auto& [part, tokens] : parts) {
    if (tokens) {
      sum.parts.push_back({part, *tokens});
    }
  }
  message_.sums.push_back(std::move(sum));
}

/// "self.max_total_num_tokens=..., available_size=..., evictable_size=..., ..." of one pool. In 0.4 available_size is
/// the sum of what is free and what is evictable, and both stand behind it.
void Reader::read_single() {
  const std::optional<Tokens> total = value("max_total_num_tokens");
  const std::optional<Tokens> free_tokens = value("available_token_size");
  const std::optional<Tokens> available = free_tokens ? free_tokens : value("available_size");
  if (!total || !available) {
    return;
  }
  PoolSum sum{"kv", *total, {{"available", *available}}, false};
  constexpr std::array<std::pair<std::string_view, const char*>, 4> parts{{{"evictable_size", "evictable"},
                                                                           {"protected_size", "protected"},
                                                                           {"session_held", "session_held"},
                                                                           {"uncached_size", "uncached"}}};
  for (const auto& [key, part] : parts) {
    if (const std::optional<Tokens> tokens = value(key)) {
      sum.parts.push_back({part, *tokens});
    }
  }
  message_.sums.push_back(std::move(sum));
}

/// "Mem Leak Detected! total_tokens=... vs self.max_total_num_tokens=...": what the parts were, another line says.
void Reader::read_total_alone() {
  const std::optional<Tokens> sum = value("total_tokens");
  const std::optional<Tokens> total = value("max_total_num_tokens");
  if (sum && total) {
    message_.sums.push_back({"kv", *total, {{"all parts together", *sum}}, false});
  }
}

/// Full pool and state slots of a hybrid with state-space layers, 0.5.6 to 0.5.10.
void Reader::read_mamba() {
  for (const auto& [pool, owner] : {std::pair<std::string, std::string>("full", "token_to_kv_pool_allocator"),
                                    std::pair<std::string, std::string>("mamba", "mamba_pool")}) {
    const std::optional<Tokens> total = value("size", owner);
    const std::optional<Tokens> available = value(pool + "_available_size");
    if (total && available) {
      message_.sums.push_back({pool,
                               *total,
                               {{"available", *available},
                                {"evictable", value(pool + "_evictable_size").value_or(0)},
                                {"protected", value(pool + "_protected_size").value_or(0)}},
                               false});
    }
  }
}

void Reader::read_slots() {
  const std::size_t at = text_.find(slot_leak);
  if (at == std::string_view::npos) {
    return;
  }
  const Reader rest(text_.substr(at));
  const std::optional<Tokens> available = rest.value("available_size");
  const std::optional<Tokens> total = rest.value("total_size");
  if (available && total) {
    message_.slots = SlotSum{*available, rest.value("session_held").value_or(0), *total};
  }
}

void Reader::read_out_of_memory() {
  constexpr std::string_view ask = "Try to allocate ";
  const std::size_t at = text_.find(ask);
  if (at == std::string_view::npos || !has("out of memory")) {
    return;
  }
  Tokens wanted = 0;
  const std::string_view number = text_.substr(at + ask.size());
  if (std::from_chars(number.data(), number.data() + number.size(), wanted).ec != std::errc()) {
    return;
  }
  const std::optional<Tokens> full = value("full_available_size");
  const std::optional<Tokens> full_evictable =
      value("full_evictable_size") ? value("full_evictable_size") : value("full_evictable_size_");
  message_.out_of_memory = OutOfMemory{wanted, full ? full : value("available_size"),
                                       full_evictable ? full_evictable : value("evictable_size")};
}

EngineMessage Reader::read() {
  message_.page = value("page_size");
  message_.busy = has("(BUSY)") || has("Pool Mem Leak Detected!") || value("total_tokens").has_value();
  read_slots();
  read_out_of_memory();
  const bool counts = !message_.out_of_memory && !(message_.slots && pairs_.size() <= 3);
  if (counts) {
    read_sections();
  }
  if (counts && message_.sums.empty()) {
    read_named("full");
    read_named("swa");
  }
  if (counts && message_.sums.empty()) {
    read_mamba();
  }
  if (counts && message_.sums.empty()) {
    read_single();
  }
  if (counts && message_.sums.empty()) {
    read_total_alone();
  }
  for (const KnownText& known : known_texts()) {
    if (has(known.text)) {
      message_.known.push_back(&known);
    }
  }
  return std::move(message_);
}

}  // namespace

Tokens PoolSum::sum() const {
  Tokens all = 0;
  for (const CountedPart& part : parts) {
    all += part.tokens;
  }
  return all;
}

EngineMessage read_engine_message(std::string_view text) {
  // Terminals and log viewers break lines anywhere between words.
  std::string flat;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank || !flat.ends_with(' ')) {
      flat += blank ? ' ' : c;
    }
  }
  return Reader(flat).read();
}

const std::vector<KnownText>& known_texts() {
  static const std::vector<KnownText> texts{
      {"self.swa_attn_allocator.available_size() <= self.swa_attn_allocator.size",
       "the SWA pool has more tokens free than it has: pages went back twice, or pages that it never lent. With a "
       "per-request ring (sgl-project/sglang#38571) the paged SWA pool lends nothing, so any page that goes back is "
       "one too many.",
       "AVAIL_LE_SIZE", "B15-group-end, B15-free-swa, B08"},
      {"self.full_attn_allocator.available_size() <= self.full_attn_allocator.size",
       "the full pool has more tokens free than it has: pages went back twice.", "AVAIL_LE_SIZE",
       "B41, B27, credited-twice"},
      {"free groups cannot be nested", "a free group was opened while one was open.", "C6", "B22"},
      {"is not page-aligned", "a segment was given back that starts inside a page.", "C4", "B26"},
      {"shares a page with the one ending at", "two segments of one call meet inside a page.", "C4", "B27"},
      {"caller wants free_full", "an SWA half was given back whose full loc has no live peer: it went back before.",
       "C1", ""},
      {"caller wants free_segment", "the full half alone of a slice was given back while its SWA peers are live.", "C5",
       "B46"},
      {"swa.peer_released: caller wants free",
       "the full half alone was given back while its SWA peer is live: the peer could never go back.", "C5", "B46"},
      {"len(torch.unique(self.free_pages)) == len(self.free_pages)", "a page stands twice in the free list.",
       "FREE_LIST_CLEAN", "B41, B94"},
      {"len(torch.unique(pages)) == len(pages)", "a page stands twice in the free lists.", "FREE_LIST_CLEAN",
       "B41, B94"},
      {"len(torch.unique(out_indices)) == len(out_indices)", "one answer lends the same loc twice.", "NO_DOUBLE_LEND",
       "batch-shares-page, B94"},
      {"should be page-aligned", "alloc was asked for part of a page.", "PAGE_LAYOUT", "B61"},
      {"assert alloc_swa_indices is not None",
       "the full pool gave up pages and the SWA pool could not: what the full pool gave is lost.", "ALL_OR_NOTHING",
       "B30"},
      {"assert alloc_full_indices is not None",
       "the room was checked and the full pool could not serve: the check and the lending count differently.",
       "SERVED_WHEN_FITS", "B32, B61"},
      {"free_pages is empty but the batch requires new pages",
       "the kernel ran although the pool is empty: the capacity was checked after it, or counted wrong.",
       "ALL_OR_NOTHING", "B32"},
      {"Committed KV cache already freed",
       "a finished request is released twice, by two paths (sgl-project/sglang#12224).", "C1", ""},
      {"Overallocated KV cache already freed", "the tokens written ahead for a request are given back twice.", "C1",
       ""},
      {"KV double free:", "a page stands twice in the free lists: two owners gave it back.", "C1", "B41, B94"},
      {"KV page use-after-free:",
       "pages that a request still holds are in the free list: another owner gave them back too early.", "C3", ""},
      {"alloc_req_slots runs out of memory",
       "no request slot is free: slots leak (given back on finish, but not on retract or abort), or there are too few.",
       "C9", "slot-given-twice"},
  };
  return texts;
}

}  // namespace poolproof
