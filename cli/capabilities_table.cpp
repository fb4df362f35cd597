#include "cli/capabilities_table.hpp"

#include <fmt/format.h>

#include "model/ops.hpp"
#include "props/feasible.hpp"
#include "props/generator.hpp"
#include "props/wrapped.hpp"

namespace poolproof::cli {
namespace {

constexpr std::size_t text_width = 108;

void paragraph(std::string& out, std::string_view indent, std::string_view text) {
  bool first = true;
  for (const std::string& line : wrapped(text, text_width - indent.size() - 2)) {
    out += fmt::format("{}{}{}\n", indent, first ? "" : "  ", line);
    first = false;
  }
}

std::string_view either(bool off, bool on) { return off && on ? "no or yes" : (on ? "yes" : "no"); }

/// A geometry of this kind, to ask what its layout has.
Geometry sample_of(const PoolKind& kind) {
  Geometry g;
  g.layout = kind.layout;
  g.page = kind.page_max > 1 ? std::max<Tokens>(kind.page_min, 2) : 1;
  g.full = g.swa = 8 * g.page;
  g.window = g.sliding() ? g.page : 0;
  g.ring = kind.ring_on && !kind.ring_off ? g.window : 0;
  g.reqs = 1;
  return g;
}

std::string skipped_of(const PoolKind& kind) {
  const Geometry sample = sample_of(kind);
  std::string skipped;
  const auto add = [&](std::string_view what, Offer offer) {
    skipped += fmt::format("{}{} (no '{}')", skipped.empty() ? "" : ", ", what, offer_name(offer));
  };
  for (const WordNeed& need : word_needs()) {
    if (!has(kind.offers, need.offer) && word_feasible(need.word, sample)) {
      add(op_word_name(need.word), need.offer);
    }
  }
  if (!has(kind.offers, Offer::census)) {
    add("checks of the lists", Offer::census);
  }
  return skipped.empty() ? "nothing" : skipped;
}

std::string stood_in_for(const PoolKind& kind) {
  std::string text;
  if (!has(kind.offers, Offer::stamps)) {
    text += "KV data (no 'stamps': kept by poolproof, by the locs and the mapping that it answers)";
  }
  if (!has(kind.offers, Offer::slots)) {
    text += fmt::format("{}request slots (no 'slots')", text.empty() ? "" : ", ");
  }
  return text;
}

void pool_lines(std::string& out, const PoolKind& kind) {
  const std::string pages = kind.page_min == kind.page_max
                                ? fmt::format("page {}", kind.page_min)
                                : fmt::format("pages of {} to {}", kind.page_min, kind.page_max);
  out += fmt::format("  {}, {}; ring: {}; need_sort: {}\n", layout_name(kind.layout), pages,
                     either(kind.ring_off, kind.ring_on), either(kind.sort_off, kind.sort_on));
  paragraph(out, "    ", fmt::format("skipped: {}", skipped_of(kind)));
  if (const std::string text = stood_in_for(kind); !text.empty()) {
    paragraph(out, "    ", fmt::format("stood in for: {}", text));
  }
}

std::string geometries_without(const Capabilities& capabilities) {
  std::string names;
  for (const NamedGeometry& named : named_geometries()) {
    if (capabilities.kind_for(named.geometry) == nullptr) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", named.name);
    }
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::string capabilities_table(const Capabilities& capabilities, const Coverage& exercised) {
  std::string out =
      fmt::format("{}{}{} offers\n", capabilities.name, capabilities.version.empty() ? "" : " ", capabilities.version);
  for (const PoolKind& kind : capabilities.pools) {
    pool_lines(out, kind);
  }
  for (const std::string& note : capabilities.notes) {
    paragraph(out, "  ", fmt::format("note: {}", note));
  }
  paragraph(out, "  ", fmt::format("geometries that it has no pool for: {}", geometries_without(capabilities)));
  out += fmt::format("\n  {:<22}  {:>9}  {:>9}\n", "exercised", "served", "refused");
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    if (exercised.served(word) + exercised.refused(word) > 0) {
      out +=
          fmt::format("  {:<22}  {:>9}  {:>9}\n", op_word_name(word), exercised.served(word), exercised.refused(word));
    }
  }
  return out;
}

}  // namespace poolproof::cli
