// B20, sgl-project/sglang#36081 and #36135: inside a group the SWA free stores full pages and looks their peers up when
// the group closes. A mapping set in between belongs to a new owner, whose live page is freed, and the old one is lost.
// Needs: a paired pool. Expected first: GROUP_OWNERSHIP; MAPPING_CLEARED where only rejected tokens have peers.
#include <vector>

#include "impl/mutants/mutants.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

class GroupedFreeLateResolve final : public Mutated<GroupedFreeLateResolve, HybridAllocator> {
 public:
  using Mutated::Mutated;

  bool digest(StateDigest& out) const override {
    out.numbers(unresolved_);
    return HybridAllocator::digest(out);
  }

 protected:
  void free_swa_pages(Side side, std::span<const Page> full_pages) override {
    if (group_open()) {
      unresolved_.insert(unresolved_.end(), full_pages.begin(), full_pages.end());
    } else {
      HybridAllocator::free_swa_pages(side, full_pages);
    }
  }

  void close_group() override {
    sort_unique(unresolved_);
    std::vector<Page> peers;
    collect_peers(unresolved_, peers);
    detach_peers(unresolved_);
    return_pages(Pool::swa, peers);
    unresolved_.clear();
    HybridAllocator::close_group();
  }

 private:
  std::vector<Page> unresolved_;  ///< full pages whose peers the open group is to release
};

}  // namespace

ImplInfo b20_grouped_free_late_resolve() {
  return hybrid_mutant<GroupedFreeLateResolve>({
      .name = "B20",
      .source = "sgl-project/sglang#36135",
      .mechanism = "a grouped SWA free looks the peers up at the end of the group, not at the call",
      .caught_by = {Invariant::group_ownership, Invariant::mapping_cleared},
      .supports = paired,
  });
}

}  // namespace poolproof
