// B94, sgl-project/sglang#40305: the duplicate check looks at the immediate list alone. With need_sort both copies of a
// page that is named twice wait in the staged list, unseen until a merge.
// Needs: need_sort, and a set-shaped free that names a page twice. Expected first: FREE_LIST_CLEAN.
#include <algorithm>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class StagedDuplicate final : public Mutated<StagedDuplicate<Twin>, Twin> {
 public:
  using Mutated<StagedDuplicate<Twin>, Twin>::Mutated;

 protected:
  void collect_pages(std::span<const Loc> locs, std::vector<Page>& out) override {
    const std::vector<Page>& immediate = this->pool(Pool::full).lists().free;
    out.clear();
    for (const Loc loc : locs) {
      const Page page = this->pool(Pool::full).page_of(loc);
      const bool repeated = !out.empty() && out.back() == page;
      if (!repeated && std::find(immediate.begin(), immediate.end(), page) == immediate.end()) {
        out.push_back(page);
      }
    }
  }
};

}  // namespace

ImplInfo b94_staged_duplicate() {
  return any_layout_mutant<StagedDuplicate>({
      .name = "B94",
      .source = "sgl-project/sglang#40305",
      .mechanism = "a page named twice is staged twice, since the duplicate check looks at the immediate list alone",
      .caught_by = {Invariant::free_list_clean},
      .supports = staging,
  });
}

}  // namespace poolproof
