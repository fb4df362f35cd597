// B53, NVIDIA/TensorRT-LLM#15018: what was removed early is dropped on the branch for what is gone already, and its
// blocks stay allocated, owned by nobody. Here full pages whose SWA half was given back before. Needs: a paired pool.
// Expected first: AVAIL_EXACT, CONSERVATION or, inside a group, GROUP_DRAINS.
#include <vector>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class RemovedBranchDrops final : public Mutated<RemovedBranchDrops, HybridAllocator> {
 public:
  using Mutated::Mutated;

 protected:
  void free_pages(Side side, std::span<const Page> full_pages) override {
    if (side != Side::both) {
      HybridAllocator::free_pages(side, full_pages);
      return;
    }
    present_.clear();
    for (const Page page : full_pages) {
      peers_.clear();
      collect_peers({&page, 1}, peers_);
      if (!peers_.empty()) {
        present_.push_back(page);
      }
    }
    HybridAllocator::free_pages(side, present_);
  }

 private:
  std::vector<Page> present_;
  std::vector<Page> peers_;
};

}  // namespace

ImplInfo b53_removed_branch_drops() {
  return hybrid_mutant<RemovedBranchDrops>({
      .name = "B53",
      .source = "NVIDIA/TensorRT-LLM#15018",
      .mechanism = "a free of both halves drops pages whose SWA half is gone already",
      .caught_by = {Invariant::avail_exact, Invariant::conservation, Invariant::group_drains},
      .supports = paired,
  });
}

}  // namespace poolproof
