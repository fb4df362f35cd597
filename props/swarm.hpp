// The swarm: what one trace is about. A uniform mix of ops hardly ever exhausts a pool or keeps a group busy, so each
// trace draws a subset of the op words, how often each comes, how many rows there are and which habits callers have.
#pragma once

#include <array>
#include <cstdint>

#include "model/geometry.hpp"
#include "model/ops.hpp"
#include "props/choices.hpp"

namespace poolproof {

/// What a trace leans to.
enum class Profile : std::uint8_t {
  mixed,       ///< everything, evenly
  fill_drain,  ///< fill until refused, then drain
  churn,       ///< short requests come and go
  speculate,   ///< extend by a few, reject some
  share,       ///< copy to cache rows, drop, shared frees
  evict,       ///< long rows whose windows slide
  tails,       ///< tail-only SWA allocation
  groups,      ///< frees in groups, lending and load-back inside
  load_back,   ///< tombstones and their recovery
  retract,     ///< rows given up whole and started again
  recycle,     ///< request slots and rings change hands
  state,       ///< backup, restore, clear, resize
  memory,      ///< pause, resume, build, destroy, flush; pools with `kv` alone
};
inline constexpr std::size_t profile_count = 13;

using WordWeights = std::array<std::uint32_t, op_word_count>;

/// Habits are odds out of 16 that an op is followed by what a caller would do next.
struct Habits {
  std::uint64_t write = 12;   ///< write what was lent
  std::uint64_t read = 4;     ///< read behind a write
  std::uint64_t reject = 0;   ///< reject speculated tokens
  std::uint64_t evict = 2;    ///< give back what left the window
  std::uint64_t share = 1;    ///< hand whole pages to a cache row
  std::uint64_t retract = 1;  ///< free a row whole and start it again
  std::uint64_t admit = 8;    ///< take a slot for a row that starts
};

struct Swarm {
  Profile profile = Profile::mixed;
  WordWeights weights{};  ///< 0 = not in this trace
  Habits habits;
  Row running = 3;           ///< rows 0..running-1 are requests
  Row cached = 2;            ///< the rows behind them are cached prefixes
  std::size_t batch = 2;     ///< most pieces of a batch, usually
  bool phases = false;       ///< fill until refused, then drain
  bool one_op_runs = false;  ///< now and then one word alone for a while
  [[nodiscard]] Row rows() const { return running + cached; }
};

/// Does the layout offer the word at all? (docs/semantics.md: e.g. no `alloc` on a paged hybrid, no `trim` of
/// one-token pages.)
bool word_offered(OpWord word, const Geometry& g);

/// alloc, extend, decode, tail.
bool word_lends(OpWord word);
/// clear, resize, destroy, build, flush: no row holds anything afterwards, no request slot is taken, no snapshot is
/// known.
bool word_empties(OpWord word);
/// The six frees.
bool word_frees(OpWord word);

Swarm draw_swarm(const Geometry& g, Choices& choices);

}  // namespace poolproof
