// B83, ROCm/ATOM#2267: on wake the pool is sized anew without the scheduler's knowledge; indices lent before point
// behind it. Needs: more than one page, the saver on. Expected first: FREE_LIST_CLEAN, or
// AVAIL_EXACT where nothing was lent.
#include <algorithm>

#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class WakeResizes final : public Mutated<WakeResizes<Twin>, Twin> {
 public:
  using Mutated<WakeResizes<Twin>, Twin>::Mutated;

  Answer gauges(Gauges& out) override {
    const Geometry& g = this->geometry();
    const std::uint64_t resumes = saved_pools(this->storage()).resumes();
    if (resumes != resumes_) {
      resumes_ = resumes;
      const auto half = [&](Tokens tokens) { return std::max(g.page, tokens / 2 / g.page * g.page); };
      Twin::resize(half(g.full), g.hybrid() ? half(g.swa) : 0);
    }
    return Twin::gauges(out);
  }

 private:
  std::uint64_t resumes_ = 0;
};

}  // namespace

SaverMutant b83_wake_resizes_pool() {
  return {{.name = "B83",
           .source = "ROCm/ATOM#2267",
           .mechanism = "resume sizes the pool anew",
           .caught_by = {Invariant::avail_exact, Invariant::free_list_clean, Invariant::conservation},
           .supports = [](const Geometry& g) { return pausable(g) && g.full_pages() > 1; }},
          with_twin<WakeResizes>()};
}

}  // namespace poolproof
