// B30, sgl-project/sglang#35338: decode asks the full pool first and the SWA pool second. When the second refuses, the
// call answers none and the full pages are gone.
// Needs: a paired pool whose SWA side runs out first. Expected first: ALL_OR_NOTHING.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class DecodeHalfAlloc final : public Mutated<DecodeHalfAlloc, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    const std::int64_t pages = pool(Pool::full).pages_for_decode(seq_lens);
    if (!make_room(Pool::full, pages)) {
      return Answer::refused;
    }
    if (!make_room(Pool::swa, pages)) {
      lend_decode(Pool::full, seq_lens, last_locs, out);
      return Answer::refused;
    }
    return HybridAllocator::alloc_decode(seq_lens, last_locs, out);
  }
};

}  // namespace

ImplInfo b30_decode_half_alloc() {
  return hybrid_mutant<DecodeHalfAlloc>({
      .name = "B30",
      .source = "sgl-project/sglang#35338",
      .mechanism = "decode takes full pages before it knows that the SWA pool can serve",
      .caught_by = {Invariant::all_or_nothing},
      .supports = paired,
  });
}

}  // namespace poolproof
