// The named geometries, and how one trace's geometry is varied around its base.
#include <algorithm>
#include <array>
#include <string>

#include "props/generator.hpp"

namespace poolproof {
namespace {

constexpr std::array<Tokens, 6> page_sizes = {1, 2, 4, 16, 64, 256};
constexpr std::int64_t base_reqs = 4;
constexpr std::int64_t max_varied_pages = 16;
constexpr std::int64_t max_varied_reqs = 6;

/// A pool of single slots needs more of them than a paged pool needs pages to be of interest.
std::int64_t page_scale(const Geometry& g) { return g.page == 1 ? 2 : 1; }

Geometry base_geometry(Layout layout, Tokens page, bool ring, bool need_sort) {
  Geometry g;
  g.layout = layout;
  g.page = page;
  g.full = 8 * page_scale(g) * page;
  g.reqs = base_reqs;
  g.need_sort = need_sort;
  if (g.sliding()) {
    g.window = page == 1 ? 4 : page + page / 2;
  }
  if (g.hybrid()) {
    g.swa = 6 * page_scale(g) * page;
  }
  if (ring) {
    g.ring = g.window + (page == 1 ? 2 : page / 2);
  }
  return g;
}

std::string geometry_name(const Geometry& g) {
  std::string name(layout_name(g.layout));
  if (g.layout == Layout::paged || g.hybrid()) {
    name += "-p" + std::to_string(g.page);
  }
  if (g.ringed()) {
    name += "-ring";
  }
  if (g.need_sort) {
    name += "-sort";
  }
  return name;
}

void add_both_sorts(std::vector<NamedGeometry>& all, Layout layout, Tokens page, bool ring) {
  for (const bool need_sort : {false, true}) {
    const Geometry g = base_geometry(layout, page, ring, need_sort);
    all.push_back({geometry_name(g), g});
  }
}

std::vector<NamedGeometry> make_named_geometries() {
  std::vector<NamedGeometry> all;
  add_both_sorts(all, Layout::token, 1, false);
  for (const Tokens page : page_sizes) {
    add_both_sorts(all, Layout::paged, page, false);
  }
  for (const Tokens page : page_sizes) {
    add_both_sorts(all, Layout::hybrid, page, false);
    add_both_sorts(all, Layout::hybrid, page, true);
  }
  add_both_sorts(all, Layout::pure_swa, 1, false);
  return all;
}

/// Small rows, and weights that end inside of a granule.
NamedGeometry with_memory(const std::string& name, Geometry g, KvKind kind, SaverMode saver = SaverMode::on) {
  g.kv.kind = kind;
  g.kv.saver = saver;
  g.kv.heads = 1;
  g.kv.head_dim = kind == KvKind::mha ? 32 : 36;
  g.kv.weights_bytes = 50'000;
  return {name, g};
}

std::vector<NamedGeometry> make_memory_geometries() {
  const Geometry hybrid = base_geometry(Layout::hybrid, 4, false, false);
  const Geometry sorted = base_geometry(Layout::hybrid, 16, false, true);
  const Geometry single = base_geometry(Layout::hybrid, 1, false, false);
  const Geometry ring = base_geometry(Layout::hybrid, 4, true, false);
  const Geometry paged = base_geometry(Layout::paged, 4, false, false);
  const Geometry token = base_geometry(Layout::token, 1, false, false);
  return {
      with_memory("mha-swa", hybrid, KvKind::mha),
      with_memory("mla-swa", hybrid, KvKind::mla),
      with_memory("dsa-swa", hybrid, KvKind::dsa),
      with_memory("mha", paged, KvKind::mha),
      with_memory("mla", token, KvKind::mla),
      with_memory("dsa", paged, KvKind::dsa),
      with_memory("mha-ring", ring, KvKind::mha),
      with_memory("mla-ring", ring, KvKind::mla),
      with_memory("dsa-ring", ring, KvKind::dsa),
      with_memory("mha-swa-p1", single, KvKind::mha),
      with_memory("mla-swa-p16-sort", sorted, KvKind::mla),
      with_memory("mha-swa-backup", hybrid, KvKind::mha, SaverMode::backup),
      with_memory("dsa-swa-backup", hybrid, KvKind::dsa, SaverMode::backup),
      with_memory("dsa-swa-off", hybrid, KvKind::dsa, SaverMode::off),
      with_memory("mha-ring-off", ring, KvKind::mha, SaverMode::off),
  };
}

/// Around a page border more often than not: that is where frontiers and tails change.
Tokens vary_window(Tokens page, Choices& choices) {
  if (page == 1) {
    return choices.between(1, 8);
  }
  const Tokens pages = choices.between(1, 3);
  switch (choices.draw(5)) {
    case 0:
      return pages * page;
    case 1:
      return pages * page + 1;
    case 2:
      return pages * page - 1;
    case 3:
      return choices.between(1, 3 * page + 1);
    default:
      return pages * page - page / 2;
  }
}

/// From a ring without any spare row to one that holds a page of speculated tokens; page multiples are the exception.
Tokens vary_ring(const Geometry& g, Choices& choices) {
  switch (choices.draw(5)) {
    case 0:
      return g.window + choices.between(1, std::max<Tokens>(g.page, 3));
    case 1:
      return g.window;
    case 2:
      return g.window + 1;
    case 3:
      return g.pages_of(g.window) * g.page;
    default:
      return 2 * g.window;
  }
}

/// The SWA pool's pages beside `full` ones: equal, fewer (the usual ratio) or more.
std::int64_t vary_swa_pages(std::int64_t full, Choices& choices) {
  switch (choices.draw(4)) {
    case 0:
      return full;
    case 1:
      return std::max<std::int64_t>(1, full / 2);
    case 2:
      return choices.between(1, full);
    default:
      return full + choices.between(1, 4);
  }
}

}  // namespace

const std::vector<NamedGeometry>& named_geometries() {
  static const std::vector<NamedGeometry> all = make_named_geometries();
  return all;
}

const std::vector<NamedGeometry>& memory_geometries() {
  static const std::vector<NamedGeometry> all = make_memory_geometries();
  return all;
}

std::vector<NamedGeometry> all_geometries() {
  std::vector<NamedGeometry> all = named_geometries();
  all.insert(all.end(), memory_geometries().begin(), memory_geometries().end());
  return all;
}

Geometry vary_geometry(const Geometry& base, Choices& choices) {
  Geometry g = base;
  const std::int64_t pages = choices.between(2, max_varied_pages * page_scale(g));
  g.full = pages * g.page;
  if (g.sliding()) {
    g.window = vary_window(g.page, choices);
  }
  if (g.hybrid()) {
    g.swa = vary_swa_pages(pages, choices) * g.page;
  }
  if (g.ringed()) {
    g.ring = vary_ring(g, choices);
  }
  g.reqs = choices.between(1, max_varied_reqs);
  return g;
}

}  // namespace poolproof
