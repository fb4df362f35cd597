// The states that were reached, in the order in which they were: some 25 bytes each. A state is its digest, the state
// that it was reached from first, and by which op; what it looks like is found again by running these ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuzz/explorer/alphabet.hpp"

namespace poolproof {

/// Number of a state, in the order of discovery; 0 is the fresh allocator.
using StateIndex = std::uint32_t;
inline constexpr StateIndex no_state = ~StateIndex{0};

/// Grows by whole chunks, so that growing never needs twice the memory.
template <typename T>
class ChunkedVector {
 public:
  void push_back(const T& value) {
    if (size_ % chunk == 0) {
      chunks_.push_back(std::make_unique<T[]>(chunk));
    }
    chunks_.back()[size_++ % chunk] = value;
  }
  T& operator[](std::size_t index) { return chunks_[index / chunk][index % chunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / chunk][index % chunk]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return chunks_.size() * chunk * sizeof(T); }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 14U;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

class StateTable {
 public:
  StateTable() : slots_(std::size_t{1} << 12U, no_state) {}

  [[nodiscard]] StateIndex size() const { return static_cast<StateIndex>(digests_.size()); }
  [[nodiscard]] StateIndex parent(StateIndex state) const { return parents_[state]; }
  [[nodiscard]] MoveIndex move(StateIndex state) const { return moves_[state]; }
  [[nodiscard]] std::uint64_t digest(StateIndex state) const { return digests_[state]; }

  /// no_state: not reached yet.
  [[nodiscard]] StateIndex find(std::uint64_t digest) const;
  /// Asks the memory for the place where find(digest) looks first.
  void prefetch(std::uint64_t digest) const { __builtin_prefetch(&slots_[digest & (slots_.size() - 1)]); }
  /// Not reached yet.
  StateIndex insert(std::uint64_t digest, StateIndex parent, MoveIndex move);

  [[nodiscard]] std::size_t bytes() const {
    return digests_.bytes() + parents_.bytes() + moves_.bytes() + slots_.size() * sizeof(StateIndex);
  }
  /// What insert would take beyond that for a moment, when it grows the table.
  [[nodiscard]] std::size_t growth_bytes() const { return 2 * slots_.size() * sizeof(StateIndex); }

 private:
  void grow();

  ChunkedVector<std::uint64_t> digests_;
  ChunkedVector<StateIndex> parents_;
  ChunkedVector<MoveIndex> moves_;
  std::vector<StateIndex> slots_;  ///< open addressing, by digest; a power of two
};

}  // namespace poolproof
