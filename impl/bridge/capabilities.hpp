// What an external implementation offers, as its hello says (docs/external.md).
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/geometry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"

namespace poolproof {

/// The protocol's version that we speak.
inline constexpr int protocol_version = 1;

/// The names of a hello's `calls`.
enum class Offer : std::uint8_t {
  alloc,
  alloc_extend,
  alloc_decode,
  alloc_extend_swa_tail,
  free,
  free_swa,
  free_full,
  free_segments,
  free_swa_segments,
  free_full_segments,
  free_duplicates,
  free_tombstones,
  free_group,
  free_group_probe,
  mapping,
  translate,
  clear,
  resize,
  snapshot,
  slots,
  stamps,
  census,
};
inline constexpr std::size_t offer_count = 22;
using Offers = std::bitset<offer_count>;

std::string_view offer_name(Offer offer);
inline bool has(const Offers& offers, Offer offer) { return offers.test(static_cast<std::size_t>(offer)); }

/// One kind of pool that can be built.
struct PoolKind {
  Layout layout = Layout::paged;
  Tokens page_min = 1;
  Tokens page_max = max_page_tokens;
  bool ring_off = true;
  bool ring_on = false;
  bool sort_off = true;
  bool sort_on = false;
  Offers offers;

  [[nodiscard]] bool fits(const Geometry& g) const;
};

struct Capabilities {
  std::string name;
  std::string version;
  std::vector<std::string> notes;
  std::vector<PoolKind> pools;

  /// The first kind that fits, or null.
  [[nodiscard]] const PoolKind* kind_for(const Geometry& g) const;
};

/// Nothing, or what the kind must offer and does not, as a sentence.
std::string missing_offer(const PoolKind& kind);

/// The op words that can be run with these offers.
OpWords words_of(const Offers& offers);

/// Is the op within what a pool with these offers takes? Words aside: whether a free may name a page twice, or a loc
/// whose peer is gone already.
bool takes(const Offers& offers, const Op& op, const Machine& machine);

/// The offer behind a word, or none: the word needs no call, or poolproof stands in.
struct WordNeed {
  OpWord word;
  Offer offer;
};
std::vector<WordNeed> word_needs();

}  // namespace poolproof
