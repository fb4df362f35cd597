// A small scope: a pool of a few pages, a few rows of a few positions, and the ops that may be done to them. All
// sequences of these ops are what the explorer runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/geometry.hpp"
#include "model/ops.hpp"
#include "model/result.hpp"

namespace poolproof {

struct Scope {
  std::string name;  ///< of a released one, else empty
  Geometry geometry;
  Row rows = 2;             ///< r0..r(rows-1)
  Pos positions = 4;        ///< rows grow up to this length
  std::uint32_t batch = 2;  ///< pieces or rows that an op names, at most
  OpWords words;            ///< the ops' words
  std::uint32_t depth = 0;  ///< sequences of so many ops at most; 0: of any number, until no new state comes up

  bool operator==(const Scope&) const = default;
};

inline constexpr Row max_scope_rows = 4;
inline constexpr Pos max_scope_positions = 32;
inline constexpr std::uint32_t max_scope_batch = 3;
inline constexpr std::int64_t max_scope_pages = 16;

/// The words that can be explored on a pool: all that it offers, those that move memory and `expect` aside.
OpWords explorable_words(const Geometry& g);

/// Nothing, or why the scope cannot be explored and the remedy, as one sentence.
std::optional<std::string> scope_fault(const Scope& scope);

/// The scopes with names: first the small ones, each of which is explored in seconds.
std::span<const Scope> named_scopes();
std::span<const Scope> small_scopes();
const Scope* find_scope(std::string_view name);

/// "layout=hybrid,page=2,...,rows=2,positions=4,batch=2,words=extend+free": what scope_from reads. Without name, and
/// without depth where there is none.
std::string to_string(const Scope& scope);

/// Keys of a pool line, then `rows`, `positions`, `batch`, `depth`, and `words` with + or - between: words=extend+free
/// are these, words=-write-read all but these. What is left out is as a Scope has it; words: all. An error sentence
/// where that is no scope.
Result<Scope, std::string> scope_from(std::string_view text);

}  // namespace poolproof
