#include "props/workload/presets.hpp"

namespace poolproof {
namespace {

Geometry paged(Tokens page, Tokens full, std::int64_t reqs) {
  Geometry g;
  g.layout = Layout::paged;
  g.page = page;
  g.full = full;
  g.reqs = reqs;
  return g;
}

Geometry hybrid(Tokens page, Tokens full, Tokens swa, Tokens window, std::int64_t reqs) {
  Geometry g = paged(page, full, reqs);
  g.layout = Layout::hybrid;
  g.swa = swa;
  g.window = window;
  return g;
}

Geometry ringed(Geometry g, Tokens ring) {
  g.ring = ring;
  return g;
}

Geometry pure_swa(Tokens full, Tokens window, std::int64_t reqs) {
  Geometry g = paged(1, full, reqs);
  g.layout = Layout::pure_swa;
  g.window = window;
  return g;
}

}  // namespace

const std::vector<ModelPreset>& model_presets() {
  static const std::vector<ModelPreset> presets{
      {"deepseek-v4-flash", "43, each with a sliding branch", "2 x 141 GB", hybrid(256, 5'392'640, 539'136, 128, 256)},
      {"deepseek-v4-flash-ring", "43, each with a sliding branch in a ring", "2 x 141 GB",
       ringed(hybrid(256, 6'366'720, 65'536, 128, 256), 128)},
      {"gpt-oss-120b", "18 full, 18 sliding", "1 x 141 GB", hybrid(64, 886'592, 709'248, 128, 256)},
      {"gpt-oss-20b", "12 full, 12 sliding", "1 x 80 GB", hybrid(64, 1'280'704, 1'024'512, 128, 256)},
      {"gemma-3-27b", "10 full, 52 sliding", "1 x 141 GB", hybrid(16, 556'368, 55'632, 1024, 256)},
      {"llama-4-scout", "12 full, 36 chunked", "8 x 80 GB", hybrid(64, 2'065'600, 1'652'480, 8192, 512)},
      {"mistral-7b", "32 sliding", "1 x 80 GB", pure_swa(426'635, 4096, 256)},
      {"qwen3-32b", "64 full", "1 x 141 GB", paged(64, 223'040, 256)},
      {"llama-3.1-70b", "80 full", "2 x 141 GB", paged(64, 326'400, 256)},
  };
  return presets;
}

}  // namespace poolproof
