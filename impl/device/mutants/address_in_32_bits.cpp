// KV is written at byte offsets of 32 bits, which wrap at token 524,288 where a token's KV has 4,096 bytes: a large
// pool's upper part overwrites its lower one, or nothing is written at all. Needs: a pool of more tokens than that.
// Expected first: KV_INTACT or KV_FRESH.
#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {
namespace {

class AddressIn32Bits final : public MutatedPools<AddressIn32Bits> {
 public:
  using MutatedPools::MutatedPools;

 protected:
  void launch_write(const kernels::WriteStampsKernel& kernel, std::int64_t blocks) override {
    device().run(kernels::WriteStampsNarrowKernel{kernel.batch}, blocks);
  }
};

}  // namespace

DeviceMutant address_in_32_bits() {
  return device_mutant<AddressIn32Bits>({
      .name = "address-in-32-bits",
      .source = "int32 overflow of page * page_size * row bytes in KV kernels",
      .mechanism = "the byte offset of a token's KV is kept in 32 bits and wraps in a large pool",
      .caught_by = {Invariant::kv_intact, Invariant::kv_fresh},
      .supports = [](const Geometry& g) { return g.full > (Tokens{1} << 19); },
  });
}

}  // namespace poolproof
