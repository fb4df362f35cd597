#include "props/saver/saver_pools.hpp"

namespace poolproof {
namespace {

struct Sizes {
  std::int64_t full_layers;
  std::int64_t swa_layers;
  Tokens full;
  Tokens swa;
  Tokens page;
  std::int64_t reqs;
};

Sizes sizes_of(SaverPreset preset) {
  switch (preset) {
    case SaverPreset::reference:
      return {12, 36, 262'144, 65'536, 64, 64};
    case SaverPreset::small:
      return {1, 3, 4096, 1024, 64, 64};
    case SaverPreset::tiny:
      break;
  }
  return {1, 2, 128, 64, 8, 4};
}

Geometry paged(const Sizes& sizes, KvKind kind) {
  Geometry g;
  g.layout = Layout::paged;
  g.page = sizes.page;
  g.full = sizes.full;
  g.reqs = sizes.reqs;
  g.kv.kind = kind;
  g.kv.full_layers = sizes.full_layers;
  return g;
}

Geometry hybrid(const Sizes& sizes, KvKind kind) {
  Geometry g = paged(sizes, kind);
  g.layout = Layout::hybrid;
  g.swa = sizes.swa;
  g.window = 2 * sizes.page;
  g.kv.swa_layers = sizes.swa_layers;
  return g;
}

Geometry ringed(const Sizes& sizes, KvKind kind) {
  Geometry g = hybrid(sizes, kind);
  g.ring = g.window + 4;
  return g;
}

}  // namespace

std::vector<NamedGeometry> saver_pools(SaverPreset preset) {
  const Sizes sizes = sizes_of(preset);
  std::vector<NamedGeometry> pools;
  struct Builder {
    const char* suffix;
    Geometry (*make)(const Sizes&, KvKind);
  };
  for (const Builder& builder : {Builder{"-swa", hybrid}, Builder{"", paged}, Builder{"-ring", ringed}}) {
    for (const KvKind kind : {KvKind::mha, KvKind::mla, KvKind::dsa}) {
      pools.push_back({std::string(kv_kind_name(kind)) + builder.suffix, builder.make(sizes, kind)});
    }
  }
  return pools;
}

}  // namespace poolproof
