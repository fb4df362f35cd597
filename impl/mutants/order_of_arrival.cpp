// A set-shaped free returns its pages in an order that depends on the rank, as when the threads of a kernel append to
// the free list through an atomic counter and come in another order on each device. Each replica is right by itself.
// Needs: two replicas, and a free of two pages or more. Expected first: RANKS_AGREE.
#include <algorithm>
#include <cstddef>

#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class OrderOfArrival final : public Mutated<OrderOfArrival<Twin>, Twin> {
 public:
  OrderOfArrival(const Geometry& geometry, std::uint32_t rank)
      : Mutated<OrderOfArrival<Twin>, Twin>(geometry), rank_(rank) {}

 protected:
  void collect_pages(std::span<const Loc> locs, std::vector<Page>& out) override {
    Twin::collect_pages(locs, out);
    if (!out.empty()) {
      std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(rank_ % out.size()), out.end());
    }
  }

 private:
  std::uint32_t rank_;
};

}  // namespace

ImplInfo order_of_arrival() {
  return ranked_mutant_entry(
      {
          .name = "order-of-arrival",
          .source = "pages appended through an atomic counter on a device",
          .mechanism = "a set-shaped free returns its pages in an order that depends on the rank",
          .caught_by = {Invariant::ranks_agree},
          .supports = any_geometry,
      },
      2, [](const Geometry& g, std::uint32_t rank) { return build_on_layout<OrderOfArrival>(g, rank); });
}

}  // namespace poolproof
