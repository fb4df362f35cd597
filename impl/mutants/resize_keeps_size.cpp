// resize rebuilds the free list and forgets the size field: a grown pool reports more available than its size.
// Needs: any pool. Expected first: AVAIL_EXACT.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class ResizeKeepsSize final : public Mutated<ResizeKeepsSize<Twin>, Twin> {
 public:
  using Mutated<ResizeKeepsSize<Twin>, Twin>::Mutated;

  Answer gauges(Gauges& out) override {
    if (first_size_ < 0) {
      first_size_ = this->geometry().full;
    }
    const Answer answer = Twin::gauges(out);
    out.full_size = first_size_;
    return answer;
  }

  Answer resize(Tokens full, Tokens swa) override {
    if (first_size_ < 0) {
      first_size_ = this->geometry().full;
    }
    return Twin::resize(full, swa);
  }

 private:
  Tokens first_size_ = -1;  ///< as built; -1 = not looked at yet
};

}  // namespace

ImplInfo resize_keeps_size() {
  return any_layout_mutant<ResizeKeepsSize>({
      .name = "resize-keeps-size",
      .source = "a size field that resize forgets",
      .mechanism = "resize changes the free list and not the reported size",
      .caught_by = {Invariant::avail_exact},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
