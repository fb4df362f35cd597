#include "fuzz/explorer/scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace poolproof {
namespace {

bool takes_word(const Geometry& g, OpWord word) {
  switch (word) {
    case OpWord::slot:
    case OpWord::unslot:
      return g.reqs > 0;
    case OpWord::alloc:
      return !g.hybrid() || g.page == 1;
    case OpWord::tail:
    case OpWord::remap:
    case OpWord::unmap:
      return g.hybrid();
    case OpWord::free_swa:
    case OpWord::free_full:
    case OpWord::free_swa_segment:
    case OpWord::free_full_segment:
      return g.sliding();
    case OpWord::expect:
    case OpWord::pause:
    case OpWord::resume:
    case OpWord::destroy:
    case OpWord::build:
    case OpWord::flush:
      return false;
    default:
      return true;
  }
}

std::optional<OpWord> word_from(std::string_view name) {
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    std::string known(op_word_name(word));
    std::replace(known.begin(), known.end(), ' ', '_');
    if (known == name) {
      return word;
    }
  }
  return std::nullopt;
}

/// "extend+free", or "-write-read": all of `all` but these.
Result<OpWords, std::string> words_from(std::string_view text, OpWords all) {
  const bool without = text.starts_with('-');
  const char separator = without ? '-' : '+';
  OpWords words = without ? all : OpWords{};
  text.remove_prefix(without ? 1 : 0);
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view name = text.substr(0, end);
    const std::optional<OpWord> word = word_from(name);
    if (!word || !all.test(static_cast<std::size_t>(*word))) {
      return fmt::format(
          "words: this pool does not explore '{}'; `poolproof explore --list` names scopes and their words", name);
    }
    words.set(static_cast<std::size_t>(*word), !without);
    if (end == text.size()) {
      return words;
    }
    text.remove_prefix(end + 1);
  }
}

/// What there is, or what there is not, whichever is shorter.
std::string words_text(OpWords words, OpWords all) {
  const OpWords missing = all & ~words;
  const bool without = missing.count() < words.count();
  std::string text;
  for (std::size_t i = 0; i < op_word_count; ++i) {
    if ((without ? missing : words).test(i)) {
      text += fmt::format("{}{}", without ? "-" : text.empty() ? "" : "+", op_word_name(static_cast<OpWord>(i)));
    }
  }
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

std::optional<std::string> number_into(std::string_view key, std::string_view text, std::uint64_t most, auto& to) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) {
    return fmt::format("{}={} is no whole number up to {}", key, text, most);
  }
  to = static_cast<std::remove_reference_t<decltype(to)>>(number);
  return std::nullopt;
}

Scope scope_of(std::string name, std::string_view text) {
  Scope scope = scope_from(text).value();
  scope.name = std::move(name);
  return scope;
}

constexpr std::size_t small_count = 5;

std::vector<Scope> make_scopes() {
  std::vector<Scope> scopes;
  const auto add = [&](std::string name, std::string_view text) { scopes.push_back(scope_of(std::move(name), text)); };
  // Two pages of each kind of pool, without backups: they square the number of states.
  add("token-tiny", "layout=token,full=2,reqs=1,rows=2,positions=2,words=-backup-restore");
  add("paged-tiny", "layout=paged,page=2,full=2p,reqs=1,rows=2,positions=4,words=-backup-restore");
  add("pure-swa-tiny", "layout=pure_swa,full=2,window=1,reqs=1,rows=2,positions=2,words=-backup-restore");
  add("hybrid-tiny", "layout=hybrid,page=1,full=2,swa=2,window=1,reqs=1,rows=2,positions=2,words=-backup-restore");
  add("ring-tiny", "layout=hybrid,page=1,full=2,swa=2,ring=2,window=1,reqs=1,rows=2,positions=2,words=-backup-restore");
  // All ops that there are.
  add("token", "layout=token,full=2,reqs=1,rows=2,positions=2");
  add("pure-swa", "layout=pure_swa,full=2,window=1,reqs=1,rows=2,positions=2");
  add("paged", "layout=paged,page=2,full=2p,reqs=1,rows=2,positions=4");
  // More pages, rows and positions.
  add("token-sort", "layout=token,full=3,need_sort=1,rows=2,positions=3,words=-write-read-resize");
  add("paged-three-rows", "layout=paged,page=2,full=3p,rows=3,positions=4,words=-backup-restore");
  add("paged-sort", "layout=paged,page=2,full=3p,need_sort=1,rows=2,positions=6,words=-backup-restore");
  add("hybrid-pages",
      "layout=hybrid,page=2,full=2p,swa=2p,window=2,reqs=1,rows=2,positions=4,words=-backup-restore-write-read");
  add("hybrid-data",
      "layout=hybrid,page=2,full=2p,swa=2p,window=2,reqs=1,rows=2,positions=4,batch=1,"
      "words=-backup-restore-resize-remap-unmap-free_full-free_full_segment");
  add("ring", "layout=hybrid,page=1,full=2,swa=2,ring=2,window=1,reqs=2,rows=2,positions=2,words=-backup-restore");
  add("ring-pages",
      "layout=hybrid,page=2,full=2p,swa=2p,ring=3,window=2,reqs=1,rows=2,positions=4,batch=1,"
      "words=-backup-restore-resize-remap-unmap");
  return scopes;
}

}  // namespace

OpWords explorable_words(const Geometry& g) {
  OpWords words;
  for (std::size_t i = 0; i < op_word_count; ++i) {
    words.set(i, takes_word(g, static_cast<OpWord>(i)));
  }
  return words;
}

std::optional<std::string> scope_fault(const Scope& scope) {
  const Geometry& g = scope.geometry;
  if (auto fault = geometry_fault(g)) {
    return fault;
  }
  if (!g.kv.none()) {
    return "pools with memory are not explored: memory is not had twice; leave kv out";
  }
  if (g.full_pages() > max_scope_pages || g.swa_pages() > max_scope_pages) {
    return fmt::format("a scope has {} pages a pool at most", max_scope_pages);
  }
  if (scope.rows < 1 || scope.rows > max_scope_rows) {
    return fmt::format("rows={}: a scope has 1 to {} rows", scope.rows, max_scope_rows);
  }
  if (scope.positions < 1 || scope.positions > max_scope_positions) {
    return fmt::format("positions={}: rows of a scope have 1 to {} positions", scope.positions, max_scope_positions);
  }
  if (scope.batch < 1 || scope.batch > max_scope_batch) {
    return fmt::format("batch={}: ops of a scope name 1 to {} pieces", scope.batch, max_scope_batch);
  }
  if (scope.words.none()) {
    return "words: a scope without ops has nothing to explore";
  }
  return std::nullopt;
}

std::span<const Scope> named_scopes() {
  static const std::vector<Scope> scopes = make_scopes();
  return scopes;
}

std::span<const Scope> small_scopes() { return named_scopes().first(small_count); }

const Scope* find_scope(std::string_view name) {
  const std::span<const Scope> scopes = named_scopes();
  const auto found = std::find_if(scopes.begin(), scopes.end(), [&](const Scope& scope) { return scope.name == name; });
  return found == scopes.end() ? nullptr : &*found;
}

std::string to_string(const Scope& scope) {
  std::string text = poolproof::to_string(scope.geometry);
  std::replace(text.begin(), text.end(), ' ', ',');
  text += fmt::format(",rows={},positions={},batch={}", scope.rows, scope.positions, scope.batch);
  if (scope.depth > 0) {
    text += fmt::format(",depth={}", scope.depth);
  }
  const OpWords all = explorable_words(scope.geometry);
  return text + (scope.words == all ? "" : ",words=" + words_text(scope.words, all));
}

Result<Scope, std::string> scope_from(std::string_view text) {
  Scope scope;
  std::string_view words;
  std::vector<std::pair<std::string_view, std::string_view>> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return fmt::format("'{}' is no KEY=VAL", part);
    }
    keys.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  // Sizes in pages take the page size, wherever it stands.
  std::stable_partition(keys.begin(), keys.end(),
                        [](const auto& key) { return key.first == "layout" || key.first == "page"; });
  for (const auto& [key, value] : keys) {
    std::optional<std::string> fault;
    if (key == "rows") {
      fault = number_into(key, value, max_scope_rows, scope.rows);
    } else if (key == "positions") {
      fault = number_into(key, value, max_scope_positions, scope.positions);
    } else if (key == "batch") {
      fault = number_into(key, value, max_scope_batch, scope.batch);
    } else if (key == "depth") {
      fault = number_into(key, value, 1'000'000, scope.depth);
    } else if (key == "words") {
      words = value;
    } else {
      fault = set_geometry_key(scope.geometry, key, value);
    }
    if (fault) {
      return *fault;
    }
  }
  scope.words = explorable_words(scope.geometry);
  if (!words.empty()) {
    Result<OpWords, std::string> chosen = words_from(words, scope.words);
    if (!chosen) {
      return chosen.error();
    }
    scope.words = *chosen;
  }
  if (auto fault = scope_fault(scope)) {
    return *fault;
  }
  return scope;
}

}  // namespace poolproof
