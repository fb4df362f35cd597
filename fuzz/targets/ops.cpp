// Traces on one kind of pool, POOLPROOF_FUZZ_KIND, held to the reference machine.
#include "fuzz/targets/engine.hpp"
#include "fuzz/targets/ops_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const poolproof::ImplInfo& impl = poolproof::fuzzed_impl();
  static poolproof::OpsRunner runner(poolproof::PoolKind::POOLPROOF_FUZZ_KIND, impl);
  poolproof::run_ops_input(runner, impl, {data, size});
  return 0;
}
