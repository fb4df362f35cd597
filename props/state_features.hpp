// The abstract state of a run as a few small numbers: what guides a search where code coverage says nothing new. An
// allocator's code is soon covered; its bugs sit in states, such as a decode at a page's border with a full SWA pool
// while a group is open.
//
// All of it is told from the reference machine's determined counts, never from page choices. Buckets:
//
//   fill        of a pool, by its free pages: 0 none; 1 one; 2 up to half of the pool; 3 more; 4 all of it (or no pool)
//   staged      pages returned that no lending had to merge yet: 0 none; 1 one; 2 more. Without need_sort always 0. The
//               machine does not see the lists: this follows from the contract that a merge comes when the free list
//               alone is too short. A refused lending and whatever empties or restores the pools count as a merge
//   deferred    pages of both pools given back inside the open group: 0 no group open; 1 none; 2 one; 3 more
//   tombstones  lent full pages beyond the lent SWA pages of a paired hybrid, so tombstones where no load-back packed
//               two pages' peers in one: 0 none; 1 one; 2 two or three; 3 more
//   ring        length of the row that the last op named: 0 no ring, or nothing held; 1 below the window; 2 below the
//               ring's size; 3 a multiple of it: the seam; 4 wrapped
//   outcome     of the op: served, refused
//   words       the op's word and the word before it
//
// The full product has millions of points, most of them of no interest. A feature is a point of one of four products,
// each numbered densely, so that no two share a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// Buckets as above.
struct AbstractState {
  std::uint8_t full_fill = 4;
  std::uint8_t swa_fill = 4;
  std::uint8_t staged = 0;
  std::uint8_t deferred = 0;
  std::uint8_t tombstones = 0;
  std::uint8_t ring = 0;

  bool operator==(const AbstractState&) const = default;
};

inline constexpr std::size_t fill_buckets = 5;
inline constexpr std::size_t staged_buckets = 3;
inline constexpr std::size_t deferred_buckets = 4;
inline constexpr std::size_t tombstone_buckets = 4;
inline constexpr std::size_t ring_buckets = 5;

/// Features are numbered below this: a power of two, with room behind the last one.
inline constexpr std::size_t feature_limit = std::size_t{1} << 14U;

/// Follows one run. Allocates nothing.
class StateFeatures {
 public:
  /// One feature of each product:
  ///   words x word before x outcome
  ///   words x outcome x fill of both pools x (no group, nothing deferred, something)
  ///   words x outcome x tombstones x ring
  ///   the whole state, deferred as above
  using Reached = std::array<std::uint32_t, 4>;

  /// A run begins on a fresh machine.
  void begin(const Machine& machine);
  /// What the state is behind `op`, which the machine has just observed.
  Reached after(const Op& op, const Machine& machine, bool refused);

  [[nodiscard]] const AbstractState& state() const { return state_; }

 private:
  void follow_staged(const Machine& machine, OpWord word, bool refused);
  void look_at_counts(const Machine& machine);

  AbstractState state_;
  OpWord last_ = OpWord::expect;
  std::int64_t free_before_ = 0;
  std::int64_t staged_pages_ = 0;
  Row row_ = 0;
};

}  // namespace poolproof
