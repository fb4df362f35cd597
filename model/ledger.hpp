// The ledger: what happened to each page, kept as one bounded log for the whole run and read only when a verdict needs
// a page's life. Appending costs one store; nothing is kept a page.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ops.hpp"
#include "model/units.hpp"

namespace poolproof {

enum class LifeEvent : std::uint8_t {
  lent,        ///< to a row; detail = the page's index in the row
  peered,      ///< full page: paired with SWA page `detail`; SWA page: with full page `detail`
  shared,      ///< another row holds it too (copy)
  dropped,     ///< a row let go of it
  peer_freed,  ///< full page: its SWA peers were given back; it is a tombstone now
  remapped,    ///< full page: took over peers of another (load-back); detail = SWA page of the first
  peer_moved,  ///< full page: its peers went to another full page
  deferred,    ///< given back inside an open group
  returned,    ///< to the free list (or staged)
};

struct LedgerEntry {
  OpIndex op = 0;
  Page page = 0;
  Row row = 0;
  Pool pool = Pool::full;
  LifeEvent event = LifeEvent::lent;
  OpWord word = OpWord::slot;  ///< what kind of op it was
  std::int32_t detail = 0;
};

/// Keeps the newest `capacity` entries; older ones are overwritten.
class Ledger {
 public:
  explicit Ledger(std::size_t capacity = default_capacity) : mask_(capacity - 1), entries_(capacity) {}

  /// capacity is a power of two.
  static constexpr std::size_t default_capacity = std::size_t{1} << 12U;

  void append(const LedgerEntry& entry) { entries_[count_++ & mask_] = entry; }
  void clear() { count_ = 0; }

  /// Entries of one page still kept, oldest first.
  [[nodiscard]] std::vector<LedgerEntry> life_of(Pool pool, Page page) const;
  /// True when entries were overwritten, so that a life may start in the middle.
  [[nodiscard]] bool truncated() const { return count_ > entries_.size(); }

 private:
  std::size_t mask_;
  std::uint64_t count_ = 0;
  std::vector<LedgerEntry> entries_;
};

}  // namespace poolproof
