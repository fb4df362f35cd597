// B60, ggml-org/llama.cpp#13194: a batch is refused unless the free cells that it needs lie in a row, which they do not
// any more once the window has moved. Needs: a pool of more than two pages. Expected first: SERVED_WHEN_FITS.
#include <algorithm>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class ContiguousRun final : public Mutated<ContiguousRun<Twin>, Twin> {
 public:
  using Mutated<ContiguousRun<Twin>, Twin>::Mutated;

 protected:
  bool make_room(Pool which, std::int64_t pages) override {
    return Twin::make_room(which, pages) && longest_run(this->pool(which).lists().free) >= pages;
  }

 private:
  static std::int64_t longest_run(std::vector<Page> free) {
    std::sort(free.begin(), free.end());
    std::int64_t longest = 0;
    std::int64_t run = 0;
    for (std::size_t i = 0; i < free.size(); ++i) {
      run = i > 0 && free[i] == free[i - 1] + 1 ? run + 1 : 1;
      longest = std::max(longest, run);
    }
    return longest;
  }
};

}  // namespace

ImplInfo b60_contiguous_run() {
  return any_layout_mutant<ContiguousRun>({
      .name = "B60",
      .source = "ggml-org/llama.cpp#13194",
      .mechanism = "a lending is refused unless its pages lie in a row",
      .caught_by = {Invariant::served_when_fits},
      .supports = [](const Geometry& g) { return g.full_pages() > 2; },
  });
}

}  // namespace poolproof
