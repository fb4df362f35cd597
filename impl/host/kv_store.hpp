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

  /// An independent copy in the same state, in the same storage.
  [[nodiscard]] virtual std::unique_ptr<KvStore> clone() const = 0;
  /// Becomes a copy of `other`, which came of the same storage. False: it cannot in place, and is as it was.
  virtual bool assign(const KvStore& /*other*/) { return false; }

  /// Row rows[i] = stamps[i], one after the other: of a row that stands twice the last one counts.
  virtual void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) = 0;
  /// out[i] = row rows[i]; 0 where nothing was ever stored.
  virtual void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const = 0;
  /// All rows; valid until the next call.
  [[nodiscard]] virtual std::span<const Stamp> rows() const = 0;

 protected:
  KvStore() = default;
  KvStore(const KvStore&) = default;
  KvStore(KvStore&&) = default;
  KvStore& operator=(const KvStore&) = default;
  KvStore& operator=(KvStore&&) = default;
};

}  // namespace poolproof
