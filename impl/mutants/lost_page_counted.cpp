// The available size is a counter beside the free list: a free of several pages loses the last one and counts it, so
// that nothing shows until the pool runs dry. Needs: any pool, and a free of two pages or more. Expected first:
// CONSERVATION at a census, else SERVED_WHEN_FITS.
#include <algorithm>
#include <map>

#include "impl/mutants/mutants.hpp"
#include "model/state_digest.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class LostPageCounted final : public Mutated<LostPageCounted<Twin>, Twin> {
 public:
  using Mutated<LostPageCounted<Twin>, Twin>::Mutated;

  Answer clear() override {
    lost_ = 0;
    kept_.clear();
    return Twin::clear();
  }
  Answer resize(Tokens full, Tokens swa) override {
    lost_ = 0;
    kept_.clear();
    return Twin::resize(full, swa);
  }
  Answer backup_state(std::uint32_t key) override {
    kept_[key] = lost_;
    return Twin::backup_state(key);
  }
  Answer restore_state(std::uint32_t key) override {
    lost_ = kept_[key];
    return Twin::restore_state(key);
  }

  bool digest(StateDigest& out) const override {
    out.number(static_cast<std::uint64_t>(lost_));
    for (const auto& [key, lost] : kept_) {
      out.number(key);
      out.number(static_cast<std::uint64_t>(lost));
    }
    return Twin::digest(out);
  }

  Answer gauges(Gauges& out) override {
    const Answer answer = Twin::gauges(out);
    out.full_available += lost_ * this->geometry().page;
    out.available = this->geometry().paired() ? std::min(out.full_available, out.swa_available) : out.full_available;
    if (this->geometry().layout == Layout::pure_swa) {
      out.swa_available = out.full_available;
    }
    return answer;
  }

 protected:
  void return_pages(Pool which, std::span<const Page> pages) override {
    if (which == Pool::full && pages.size() > 1) {
      pages = pages.first(pages.size() - 1);
      ++lost_;
    }
    Twin::return_pages(which, pages);
  }

 private:
  std::int64_t lost_ = 0;                       ///< pages counted and not in the list
  std::map<std::uint32_t, std::int64_t> kept_;  ///< the same at each backup
};

}  // namespace

ImplInfo lost_page_counted() {
  return any_layout_mutant<LostPageCounted>({
      .name = "lost-page-counted",
      .source = "a count kept beside the free list",
      .mechanism = "a free of several pages loses the last one while the available size counts it",
      .caught_by = {Invariant::conservation, Invariant::served_when_fits},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
