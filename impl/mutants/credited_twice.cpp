// A counter is credited at the call and again when the pages reach the list. Freeing the last pages lent lifts the
// available size past the size, the sum that sgl-project/sglang#27789 reports.
// Needs: any pool. Expected first: AVAIL_LE_SIZE once all is free, AVAIL_EXACT while pages are lent,
// GROUP_DRAINS at the end of a group.
#include "impl/mutants/mutants.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class CreditedTwice final : public Mutated<CreditedTwice<Twin>, Twin> {
 public:
  using Mutated<CreditedTwice<Twin>, Twin>::Mutated;

  Answer clear() override {
    extra_ = 0;
    return Twin::clear();
  }
  Answer resize(Tokens full, Tokens swa) override {
    extra_ = 0;
    return Twin::resize(full, swa);
  }

  bool digest(StateDigest& out) const override {
    out.number(static_cast<std::uint64_t>(extra_));
    return Twin::digest(out);
  }

  Answer gauges(Gauges& out) override {
    const Answer answer = Twin::gauges(out);
    out.full_available += extra_;
    return answer;
  }

 protected:
  void return_pages(Pool which, std::span<const Page> pages) override {
    if (which == Pool::full) {
      extra_ += static_cast<Tokens>(pages.size()) * this->geometry().page;
    }
    Twin::return_pages(which, pages);
  }

 private:
  Tokens extra_ = 0;  ///< credited a second time
};

}  // namespace

ImplInfo credited_twice() {
  return any_layout_mutant<CreditedTwice>({
      .name = "credited-twice",
      .source = "the count of sgl-project/sglang#27789, one page over",
      .mechanism = "a free credits its pages to the full pool twice",
      .caught_by = {Invariant::avail_le_size, Invariant::avail_exact, Invariant::group_drains},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
