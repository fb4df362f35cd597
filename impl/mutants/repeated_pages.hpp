// The step that B41 and B43 break alike: a set-shaped free drops repeats of a page that stand next to each other alone.
#pragma once

#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {

template <typename Twin>
class RepeatedPages final : public Mutated<RepeatedPages<Twin>, Twin> {
 public:
  using Mutated<RepeatedPages<Twin>, Twin>::Mutated;

 protected:
  void collect_pages(std::span<const Loc> locs, std::vector<Page>& out) override {
    out.clear();
    for (const Loc loc : locs) {
      const Page page = this->pool(Pool::full).page_of(loc);
      if (out.empty() || out.back() != page) {
        out.push_back(page);
      }
    }
  }
};

}  // namespace poolproof
