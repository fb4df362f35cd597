// A state as one number: of a machine, or of an implementation. Two states of one number answer alike for ever, up to
// the odds of a collision (2^-64 for a pair of states); the explorer knows states by it.
//
// KV makes that more than a sum of words. A stamp (model/stamp.hpp) counts by whether a read can still be due it: the
// generations that one can be due are *named*, by where they are in force, and a stamp of any other generation says
// nothing but that it is nobody's. So two states that differ by how often a page was lent are one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/stamp.hpp"
#include "model/units.hpp"

namespace poolproof {

/// Names of generations; 0 is nobody's.
class GenerationNames {
 public:
  void clear() {
    for (const std::uint32_t generation : named_) {
      names_[generation] = 0;
    }
    named_.clear();
  }
  /// The first name stays. `name` > 0.
  void give(std::uint32_t generation, std::uint32_t name) {
    if (generation >= names_.size()) {
      names_.resize(std::size_t{generation} + 64);
    }
    if (names_[generation] == 0) {
      names_[generation] = name;
      named_.push_back(generation);
    }
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t generation) const {
    return generation < names_.size() ? names_[generation] : 0;
  }

 private:
  std::vector<std::uint32_t> names_;  ///< by generation
  std::vector<std::uint32_t> named_;
};

/// Takes numbers one after the other; their order counts.
class StateDigest {
 public:
  explicit StateDigest(const GenerationNames& names) : names_(&names) {}

  void number(std::uint64_t value) { sum_ = mixed(sum_ ^ value); }

  /// A list: its length counts too.
  template <typename Number>
  void numbers(std::span<const Number> values) {
    number(values.size());
    for (const Number value : values) {
      number(static_cast<std::uint64_t>(value));
    }
  }
  template <typename Number>
  void numbers(const std::vector<Number>& values) {
    numbers(std::span<const Number>(values));
  }

  /// Rows of KV storage.
  void stamps(std::span<const Stamp> rows) {
    std::uint64_t place = 0;
    for (const Stamp stamp : rows) {
      ++place;
      const StampParts parts = stamp_parts(stamp);
      if (const std::uint32_t name = names_->of(parts.generation); name != 0) {
        number((place << 48U) ^ (std::uint64_t{name} << 16U) ^ (std::uint64_t{parts.position} << 2U) ^
               static_cast<std::uint64_t>(parts.kind));
      }
    }
    number(place);
  }

  [[nodiscard]] const GenerationNames& names() const { return *names_; }
  [[nodiscard]] std::uint64_t value() const { return mixed(sum_); }

  /// Multiplies and folds both halves: each bit of the argument reaches each bit of the answer.
  static std::uint64_t mixed(std::uint64_t value) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(value ^ 0x9e3779b97f4a7c15U) * 0xe7037ed1a0b428dbU;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

 private:
  const GenerationNames* names_;
  std::uint64_t sum_ = 0x2545f4914f6cdd1dU;
};

}  // namespace poolproof
