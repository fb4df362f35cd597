// KV storage of one kind of layer: one stamp a row, never cleared, so that what a former owner wrote can be found.
#pragma once

#include <cstddef>

#include "impl/host/zeroed_array.hpp"
#include "model/units.hpp"

namespace poolproof {

class KvStore {
 public:
  explicit KvStore(std::int64_t rows) : stamps_(static_cast<std::size_t>(rows)) {}

  void store(std::int64_t row, Stamp stamp) { stamps_[static_cast<std::size_t>(row)] = stamp; }
  [[nodiscard]] Stamp load(std::int64_t row) const { return stamps_[static_cast<std::size_t>(row)]; }

 private:
  ZeroedArray<Stamp> stamps_;
};

}  // namespace poolproof
