// decode lends from both pools and forgets to pair what it lent.
// Needs: a paired pool. Expected first: MAPPING_TOTAL.
#include "impl/mutants/mutants.hpp"

namespace poolproof {
namespace {

class DecodeUnmapped final : public Mutated<DecodeUnmapped, HybridAllocator> {
 public:
  using Mutated::Mutated;

  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override {
    in_decode_ = true;
    const Answer answer = HybridAllocator::alloc_decode(seq_lens, last_locs, out);
    in_decode_ = false;
    return answer;
  }

 protected:
  void pair(std::span<const Loc> full, std::span<const Loc> swa) override {
    if (!in_decode_) {
      HybridAllocator::pair(full, swa);
    }
  }

 private:
  bool in_decode_ = false;
};

}  // namespace

ImplInfo decode_unmapped() {
  return hybrid_mutant<DecodeUnmapped>({
      .name = "decode-unmapped",
      .source = "seeded from the pairing in alloc_decode",
      .mechanism = "decode lends from both pools and does not write the mapping",
      .caught_by = {Invariant::mapping_total},
      .supports = paired,
  });
}

}  // namespace poolproof
