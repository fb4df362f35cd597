// What a run exercised: each op, each outcome, each ordered pair of ops, and the corners that matter (a pool filled
// exactly, one over, a ring that wrapped, a slot that was recycled, a merge, a mapping rewritten inside a group, ...).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/geometry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// Corners, each counted once an occurrence.
enum class Corner : std::uint8_t {
  full_exhausted,       ///< an op left the full pool with no page
  swa_exhausted,        ///< the same of the SWA pool
  one_over,             ///< a lending op refused by exactly one page
  exactly_full,         ///< a lending op that took the last page
  swa_bound_refusal,    ///< refused although the full pool could serve
  slot_refused,         ///< `slot` refused
  slot_recycled,        ///< a request slot taken again
  ring_wrapped,         ///< a write past the ring's size
  tombstone_made,       ///< free_swa
  tombstone_recovered,  ///< remap onto a tombstone
  remap_offset,         ///< remap between different page offsets
  remap_in_group,       ///< remap inside an open group
  prefix_shared,        ///< copy
  shared_freed,         ///< a page of more than one holder freed by one call
  speculation_rejected, ///< trim
  page_border,          ///< a lending op that ends at a page border
  window_border,        ///< free_swa that ends exactly at C8's bound
  alloc_in_group,       ///< lending inside an open group
  group_many,           ///< a group of at least three frees
  group_empty,          ///< a group of none
  duplicate_in_free,    ///< a set-shaped free that names a page twice
  partial_last_page,    ///< a segment that ends inside a page
  restore_after_change, ///< a restore that undoes something
  retract,              ///< a running request freed whole while its slot stays or goes, then extended again
};
inline constexpr std::size_t corner_count = 24;
std::string_view corner_name(Corner corner);

class Coverage {
 public:
  /// Before the op is stepped: looks at the machine's state. After: counts with the outcome.
  void before(const Op& op, Machine& machine);
  void after(const Op& op, Machine& machine, bool refused);
  /// A new trace begins: no pair across it.
  void new_trace(const Geometry& geometry);
  void merge(const Coverage& other);

  [[nodiscard]] std::uint64_t ops() const;
  [[nodiscard]] std::uint64_t served(OpWord word) const { return served_[static_cast<std::size_t>(word)]; }
  [[nodiscard]] std::uint64_t refused(OpWord word) const { return refused_[static_cast<std::size_t>(word)]; }
  [[nodiscard]] std::uint64_t pair(OpWord first, OpWord second) const {
    return pairs_[static_cast<std::size_t>(first)][static_cast<std::size_t>(second)];
  }
  [[nodiscard]] std::uint64_t corner(Corner corner) const { return corners_[static_cast<std::size_t>(corner)]; }

  /// What the geometries seen could have shown and did not: "extend refused", "pair group_begin -> free_swa",
  /// "corner ring_wrapped". Empty = covered.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  std::array<std::uint64_t, op_word_count> served_{};
  std::array<std::uint64_t, op_word_count> refused_{};
  std::array<std::array<std::uint64_t, op_word_count>, op_word_count> pairs_{};
  std::array<std::uint64_t, corner_count> corners_{};
  std::vector<Geometry> geometries_;  ///< one a kind (layout, ring, page 1 or more), for what is feasible
  std::int32_t last_word_ = -1;
  std::uint32_t group_frees_ = 0;
  std::vector<std::uint8_t> row_flags_;
  std::vector<std::uint8_t> pending_corners_;
};

}  // namespace poolproof
