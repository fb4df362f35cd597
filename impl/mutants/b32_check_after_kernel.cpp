// B32, sgl-project/sglang#30892: the kernel takes its pages before the need is compared with what is free. On a GPU it
// reads past the end of the list; here it stops there, and the call is refused with the rest of the list gone.
// Needs: any pool. Expected first: ALL_OR_NOTHING, at a refusal while pages are free.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

template <typename Twin>
class CheckAfterKernel final : public Mutated<CheckAfterKernel<Twin>, Twin> {
 public:
  using Mutated<CheckAfterKernel<Twin>, Twin>::Mutated;

 protected:
  bool make_room(Pool which, std::int64_t pages) override {
    const bool room = Twin::make_room(which, pages);
    if (!room) {
      this->pool(which).set_lists({});
    }
    return room;
  }
};

}  // namespace

ImplInfo b32_check_after_kernel() {
  return any_layout_mutant<CheckAfterKernel>({
      .name = "B32",
      .source = "sgl-project/sglang#30892",
      .mechanism = "pages are taken before the need is compared with what is free",
      .caught_by = {Invariant::all_or_nothing},
      .supports = any_geometry,
  });
}

}  // namespace poolproof
