// B61, sgl-project/sglang#32433: one of the size calls answers in pages where its caller compares tokens.
// Needs: pages of more than one token. Expected first: AVAIL_EXACT.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class PagesNotTokens final : public Mutated<PagesNotTokens<Twin>, Twin> {
 public:
  using Mutated<PagesNotTokens<Twin>, Twin>::Mutated;

  Answer gauges(Gauges& out) override {
    const Answer answer = Twin::gauges(out);
    out.full_available /= this->geometry().page;
    return answer;
  }
};

}  // namespace

ImplInfo b61_pages_not_tokens() {
  return any_layout_mutant<PagesNotTokens>({
      .name = "B61",
      .source = "sgl-project/sglang#32433",
      .mechanism = "full_available_size answers pages instead of tokens",
      .caught_by = {Invariant::avail_exact},
      .supports = wide_pages,
  });
}

}  // namespace poolproof
