#include "fuzz/explorer/state_table.hpp"

#include <utility>

namespace poolproof {

StateIndex StateTable::find(std::uint64_t digest) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = digest & mask; slots_[at] != no_state; at = (at + 1) & mask) {
    if (digests_[slots_[at]] == digest) {
      return slots_[at];
    }
  }
  return no_state;
}

StateIndex StateTable::insert(std::uint64_t digest, StateIndex parent, MoveIndex move) {
  if (std::size_t{size()} * 10 >= slots_.size() * 7) {
    grow();
  }
  const StateIndex state = size();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = digest & mask;
  while (slots_[at] != no_state) {
    at = (at + 1) & mask;
  }
  slots_[at] = state;
  digests_.push_back(digest);
  parents_.push_back(parent);
  moves_.push_back(move);
  return state;
}

void StateTable::grow() {
  std::vector<StateIndex> larger(slots_.size() * 2, no_state);
  const std::size_t mask = larger.size() - 1;
  for (StateIndex state = 0; state < size(); ++state) {
    std::size_t at = digests_[state] & mask;
    while (larger[at] != no_state) {
      at = (at + 1) & mask;
    }
    larger[at] = state;
  }
  slots_ = std::move(larger);
}

}  // namespace poolproof
