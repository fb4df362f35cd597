// full_to_swa_index_mapping: the SWA loc paired with each full loc, 0 = no peer. The last entry is -1, so that a
// look-up of loc -1 ("no last loc") answers -1.
//
// This is what a mapping does; where its entries are kept is its storage's business (impl/host/storage.hpp). A call is
// for a whole batch, so that a storage far away can answer it in one exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/units.hpp"

namespace poolproof {

class Mapping {
 public:
  virtual ~Mapping() = default;

  /// An independent copy in the same state, in the same storage.
  [[nodiscard]] virtual std::unique_ptr<Mapping> clone() const = 0;
  /// Becomes a copy of `other`, which came of the same storage. False: it cannot in place, and is as it was.
  virtual bool assign(const Mapping& /*other*/) { return false; }

  /// As new, of `length` entries (Geometry::mapping_length()): no loc has a peer.
  virtual void reset(std::int64_t length) = 0;

  // A full loc below 0 means the last entry.

  /// out[i] = the entry of full[i].
  virtual void translate(std::span<const Loc> full, std::span<Loc> out) const = 0;
  /// The entry of full[i] = swa[i], one after the other: of a loc that stands twice the last one counts.
  virtual void pair(std::span<const Loc> full, std::span<const Loc> swa) = 0;
  /// The entries of these locs read 0 afterwards.
  virtual void clear(std::span<const Loc> full) = 0;

  // Whole pages of `page` full locs, a power of two.

  /// All entries of these full pages read 0 afterwards.
  virtual void clear_pages(std::span<const Page> full_pages, Tokens page) = 0;
  /// `out` has the SWA pages that the entries of these full pages lie in, in the entries' order. Entries of 0 are
  /// passed over; neighbours that lie in one page count once.
  virtual void peer_pages(std::span<const Page> full_pages, Tokens page, std::vector<Page>& out) const = 0;

  /// The last entry.
  [[nodiscard]] virtual Loc tail() const = 0;
  /// All of them; valid until the next call.
  [[nodiscard]] virtual std::span<const Loc> entries() const = 0;

  // One entry, for the odd look; a batch goes through the calls above.

  [[nodiscard]] Loc at(Loc full) const {
    Loc entry = 0;
    translate({&full, 1}, {&entry, 1});
    return entry;
  }
  void set(Loc full, Loc swa) { pair({&full, 1}, {&swa, 1}); }

 protected:
  Mapping() = default;
  Mapping(const Mapping&) = default;
  Mapping(Mapping&&) = default;
  Mapping& operator=(const Mapping&) = default;
  Mapping& operator=(Mapping&&) = default;
};

}  // namespace poolproof
