// B43, vllm-project/vllm#3347: a block that stands in the table twice is counted once an entry and not once a block,
// and given back as often. Here a page that two rows of one set-shaped free share. Needs: any pool. Expected first:
// FREE_LIST_CLEAN, inside a group GROUP_DRAINS.
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class CountedPerEntry final : public Mutated<CountedPerEntry<Twin>, Twin> {
 public:
  using Mutated<CountedPerEntry<Twin>, Twin>::Mutated;

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

}  // namespace

ImplInfo b43_counted_per_entry() {
  return any_layout_mutant<CountedPerEntry>({
      .name = "B43",
      .source = "vllm-project/vllm#3347",
      .mechanism = "a page that a free names in two places is given back twice",
      .caught_by = {Invariant::free_list_clean, Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
