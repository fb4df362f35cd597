// The host twin beside the CUDA implementation's kernels, compiled for the host: the same answers, locs, counters,
// translations and lists after every op, on every kind of pool. It needs neither a GPU nor a toolkit. Byte 0 also says
// which kind.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fuzz/targets/engine.hpp"
#include "fuzz/targets/ops_target.hpp"
#include "impl/ranks.hpp"

namespace poolproof {
namespace {

constexpr std::size_t kinds = 5;

const ImplInfo& named(const char* name) {
  const ImplInfo* impl = find_impl(name);
  if (impl == nullptr) {
    std::fprintf(stderr, "this build has no implementation '%s': there is nothing to compare\n", name);
    std::exit(2);
  }
  return *impl;
}

/// Both as replicas of one implementation: RANKS_AGREE is what must hold.
ImplInfo both() {
  const ImplInfo& host = named("host");
  const ImplInfo& other = named("cuda-host");
  ImplInfo pair = host;
  pair.name = "host";
  pair.make_rank = [&host, &other](const Geometry& geometry, std::uint32_t rank) {
    return rank == 0 ? host.make(geometry) : other.make(geometry);
  };
  return with_ranks(pair, 2);
}

}  // namespace
}  // namespace poolproof

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using poolproof::OpsRunner;
  static const poolproof::ImplInfo impl = poolproof::both();
  static std::array<std::unique_ptr<OpsRunner>, poolproof::kinds> runners;
  const std::size_t kind = size == 0 ? 0 : data[0] / 2 % poolproof::kinds;
  if (runners.at(kind) == nullptr) {
    runners.at(kind) = std::make_unique<OpsRunner>(static_cast<poolproof::PoolKind>(kind), impl);
  }
  poolproof::run_ops_input(*runners.at(kind), impl, {data, size});
  return 0;
}
