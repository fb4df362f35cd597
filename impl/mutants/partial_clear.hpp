// The step that B01 breaks, and B04 with it: set-shaped frees clear the mapping of the locs that were passed alone.
#pragma once

#include "impl/mutants/mutants.hpp"

namespace poolproof {

template <typename Mutant>
class PartialClear : public Mutated<Mutant, HybridAllocator> {
 public:
  using Mutated<Mutant, HybridAllocator>::Mutated;

  Answer free(Side side, std::span<const Loc> locs) override {
    passed_ = locs;
    const Answer answer = HybridAllocator::free(side, locs);
    passed_ = {};
    return answer;
  }

 protected:
  void detach_peers(std::span<const Page> full_pages) override {
    if (passed_.empty()) {
      HybridAllocator::detach_peers(full_pages);
      return;
    }
    this->mapping().clear(passed_);
  }

 private:
  std::span<const Loc> passed_;  ///< of the set-shaped free in progress
};

}  // namespace poolproof
