// Pool geometry: what an allocator is built with, and what a trace's `pool` line says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/kv_memory.hpp"
#include "model/units.hpp"

namespace poolproof {

/// token: one pool of single slots. paged: one pool of pages. hybrid: full and SWA pools joined by a mapping (paged or
/// token, by page size). pure_swa: every layer slides; one token pool, the mapping is the identity.
enum class Layout : std::uint8_t { token, paged, hybrid, pure_swa };

/// All sizes in tokens.
struct Geometry {
  Layout layout = Layout::paged;
  Tokens page = 1;         ///< page size: a power of two, 1..65536; 1 for token and pure_swa
  Tokens full = 0;         ///< size of the (full) pool, a multiple of page
  Tokens swa = 0;          ///< size of the SWA pool, a multiple of page; hybrid only
  Tokens ring = 0;         ///< rows of SWA storage a request slot; 0 = no ring; hybrid only, >= window
  Tokens window = 0;       ///< a query at p reads (p-window, p] in sliding layers; hybrid and pure_swa, >= 1 there
  std::int64_t reqs = 0;   ///< request slots, numbered 1..reqs; 0 = the trace uses none
  bool need_sort = false;  ///< frees are staged, merged and sorted when an alloc runs short
  KvShape kv = {};         ///< the memory behind the pools; none: locs alone

  bool operator==(const Geometry&) const = default;

  [[nodiscard]] bool hybrid() const { return layout == Layout::hybrid; }
  [[nodiscard]] bool ringed() const { return ring > 0; }
  /// A paged SWA pool that really lends: hybrid without ring.
  [[nodiscard]] bool paired() const { return hybrid() && !ringed(); }
  /// A window exists: hybrid or pure_swa.
  [[nodiscard]] bool sliding() const { return layout == Layout::hybrid || layout == Layout::pure_swa; }
  /// Lendable pages are 1..full_pages().
  [[nodiscard]] std::int64_t full_pages() const { return full / page; }
  [[nodiscard]] std::int64_t swa_pages() const { return swa / page; }
  /// SWA tokens that one request slot stands for in ring mode: ring rounded up to pages.
  [[nodiscard]] Tokens ring_cost() const { return pages_of(ring) * page; }
  /// ceil(tokens / page).
  [[nodiscard]] std::int64_t pages_of(Tokens tokens) const { return (tokens + page - 1) / page; }
  /// Entries of full_to_swa_index_mapping; the last one is always -1.
  [[nodiscard]] std::int64_t mapping_length() const { return full + page + 1; }
};

/// Largest pool, in tokens, that poolproof accepts.
inline constexpr Tokens max_pool_tokens = Tokens{1} << 30;
inline constexpr Tokens max_page_tokens = Tokens{1} << 16;
/// Pools of so many pages see crowds: batches of more requests than a block of a GPU has threads.
inline constexpr std::int64_t crowd_pages = 4096;
inline constexpr std::int64_t max_reqs = std::int64_t{1} << 20;

/// Nothing, or what is wrong with the geometry and the remedy, as one sentence.
std::optional<std::string> geometry_fault(const Geometry& g);

std::string_view layout_name(Layout layout);
std::optional<Layout> layout_from(std::string_view name);

/// "layout=hybrid page=4 full=8p swa=8p ring=0 ..." as the `pool` line has it; absent keys are defaults.
std::string to_string(const Geometry& g);

/// "8p" where the tokens fill whole pages of more than one token, else "32".
std::string tokens_text(Tokens tokens, Tokens page);

/// What a pool line's key takes; used by the trace parser and by `--geometry`.
/// Sets one key of `g`. `page` must be known before sizes in pages ("8p") are. Answers an error sentence or nothing.
/// Keys: layout page full swa ring window reqs need_sort kv full_layers swa_layers heads head_dim dtype index_k saver
/// weights.
std::optional<std::string> set_geometry_key(Geometry& g, std::string_view key, std::string_view value);

/// A whole number, optionally in pages ("15p" with the given page size). Nothing on anything else, or on overflow.
std::optional<Tokens> parse_tokens(std::string_view text, Tokens page);

}  // namespace poolproof
