// The pools that `poolproof saver` builds, by the names of an engine's builders, and their sizes.
#pragma once

#include <string>
#include <vector>

#include "props/generator.hpp"

namespace poolproof {

/// reference: 48 layers, 12 of them full, 262,144 full and 65,536 SWA tokens (21.0, 5.9 and 6.3 GiB). small: 4 layers
/// and a few MiB, which any machine has. tiny: 3 layers, for thousands of looks at all of it.
enum class SaverPreset : std::uint8_t { reference, small, tiny };

/// "mha-swa", "mla-swa", "dsa-swa", the same without SWA layers "mha", "mla", "dsa", and with a ring for each request
/// "mha-ring", "mla-ring", "dsa-ring".
std::vector<NamedGeometry> saver_pools(SaverPreset preset);

}  // namespace poolproof
