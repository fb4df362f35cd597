#include "kernels/host_grid.hpp"

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace poolproof::kernels {
namespace {

using Entry = void (*)(const Launch&, OrderStream&);

std::vector<std::uint32_t> shuffled(std::int64_t count, OrderStream& orders) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[orders.next() % i]);
  }
  return order;
}

template <typename Kernel>
void run(const Launch& launch, OrderStream& orders) {
  const Kernel& kernel = *static_cast<const Kernel*>(launch.body);
  using Shared = typename Kernel::Shared;
  // Shared memory begins with anything at all, and then holds what the last block left in it.
  const auto shared = std::make_unique<Shared>();
  std::memset(static_cast<void*>(shared.get()), 0xa5, sizeof(Shared));
  const auto run_block = [&](std::int64_t index) {
    HostBlock block(index, launch.blocks, Kernel::threads, orders);
    kernel(block, *shared);
  };
  if (launch.blocks == 1) {
    run_block(0);
    return;
  }
  for (const std::uint32_t index : shuffled(launch.blocks, orders)) {
    run_block(index);
  }
}

template <typename... Kernels>
constexpr std::array<Entry, sizeof...(Kernels)> entries_of(KernelList<Kernels...> /*list*/) {
  return {&run<Kernels>...};
}

}  // namespace

void run_on_host(const Launch& launch, OrderStream& orders) {
  static constexpr auto entries = entries_of(AllKernels());
  entries[launch.number](launch, orders);
}

}  // namespace poolproof::kernels
