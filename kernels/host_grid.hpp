// Runs a launch on the host: blocks one after the other in a random order, and within a block each step's threads in a
// random order. Same seed, same orders.
#pragma once

#include <cstdint>

#include "kernels/all.hpp"
#include "kernels/block.hpp"

namespace poolproof::kernels {

/// A launch of at most 2^31 - 1 blocks.
void run_on_host(const Launch& launch, OrderStream& orders);

}  // namespace poolproof::kernels
