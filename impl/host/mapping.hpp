// full_to_swa_index_mapping: the SWA loc paired with each full loc, 0 = no peer. The last entry is -1, so that a
// look-up of loc -1 ("no last loc") answers -1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "impl/host/zeroed_array.hpp"
#include "model/units.hpp"

namespace poolproof {

class Mapping {
 public:
  /// `length` as Geometry::mapping_length() has it.
  explicit Mapping(std::int64_t length) : entries_(static_cast<std::size_t>(length)) {
    entries_[entries_.size() - 1] = -1;
  }

  [[nodiscard]] Loc at(Loc full) const { return entries_[index(full)]; }
  void set(Loc full, Loc swa) { entries_[index(full)] = swa; }
  /// `count` entries from `first` on read 0 afterwards.
  void clear(Loc first, Tokens count) { std::fill_n(entries_.span().subspan(index(first)).begin(), count, Loc{0}); }

  [[nodiscard]] Loc tail() const { return entries_[entries_.size() - 1]; }
  [[nodiscard]] std::span<const Loc> entries() const { return entries_.span(); }

 private:
  [[nodiscard]] std::size_t index(Loc full) const {
    return full < 0 ? entries_.size() - 1 : static_cast<std::size_t>(full);
  }

  ZeroedArray<Loc> entries_;
};

}  // namespace poolproof
