// KV storage of one kind of layer: one stamp a row, never cleared, so that what a former owner wrote can be found.
//
// This is what a store does; where its rows are kept is its storage's business (impl/host/storage.hpp). A call is for a
// whole batch, so that a storage far away can answer it in one exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/units.hpp"

namespace poolproof {

class KvStore {
 public:
  virtual ~KvStore() = default;
  KvStore& operator=(const KvStore&) = delete;
  KvStore& operator=(KvStore&&) = delete;

  /// An independent copy in the same state, in the same storage.
  [[nodiscard]] virtual std::unique_ptr<KvStore> clone() const = 0;

  /// Row rows[i] = stamps[i], one after the other: of a row that stands twice the last one counts.
  virtual void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) = 0;
  /// out[i] = row rows[i]; 0 where nothing was ever stored.
  virtual void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const = 0;

 protected:
  KvStore() = default;
  KvStore(const KvStore&) = default;
  KvStore(KvStore&&) = default;
};

}  // namespace poolproof
