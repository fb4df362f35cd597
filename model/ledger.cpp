#include "model/ledger.hpp"

namespace poolproof {

std::vector<LedgerEntry> Ledger::life_of(Pool pool, Page page) const {
  std::vector<LedgerEntry> life;
  const std::uint64_t first = truncated() ? count_ - entries_.size() : 0;
  for (std::uint64_t i = first; i < count_; ++i) {
    const LedgerEntry& entry = entries_[i & mask_];
    if (entry.pool == pool && entry.page == page) {
      life.push_back(entry);
    }
  }
  return life;
}

}  // namespace poolproof
