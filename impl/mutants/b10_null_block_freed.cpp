// B10, vllm-project/vllm#22209: the placeholder that stands for positions outside of the window is handed to the
// ordinary free path with the rest: page 0 of the SWA pool is given back for every page that is a tombstone already.
// Needs: a paired pool. Expected first: SENTINEL_UNTOUCHED.
#include <algorithm>
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class NullBlockFreed final : public Mutated<NullBlockFreed, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void collect_peers(std::span<const Page> full_pages, std::vector<Page>& out) override {
    HybridAllocator::collect_peers(full_pages, out);
    const auto tombstone = [this](Page page) { return mapping().at(pool(Pool::full).first_loc(page)) == 0; };
    if (std::any_of(full_pages.begin(), full_pages.end(), tombstone)) {
      out.insert(out.begin(), Page{0});
    }
  }
};

}  // namespace

ImplInfo b10_null_block_freed() {
  return hybrid_mutant<NullBlockFreed>({
      .name = "B10",
      .source = "vllm-project/vllm#22209",
      .mechanism = "a free of both halves gives page 0 back where the SWA half is gone already",
      .caught_by = {Invariant::sentinel_untouched},
      .supports = paired,
  });
}

}  // namespace poolproof
