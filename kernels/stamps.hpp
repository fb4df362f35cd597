// The KV data oracle: eight bytes a token, scattered, gathered and verified where attention would reach them.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/last_block.hpp"
#include "kernels/pools.hpp"

namespace poolproof::kernels {

/// How a token's KV is reached from its full loc: by the loc itself, by its peer, or by the row's request slot.
enum class Reach : std::uint8_t { loc, peer, ring };

/// Some positions of one row.
struct StampRow {
  std::int64_t first = 0;      ///< index of its first loc in the batch
  std::int64_t first_pos = 0;  ///< position of that loc
  std::int64_t slot = -1;      ///< its request slot; Reach::ring
  Stamp owner = 0;             ///< a stamp of position 0: what is stored is owner | position
};

/// Locs of several rows, one after the other, and the storage that they lead to.
struct StampBatch {
  PoolsView pools;
  Stamp* kv = nullptr;
  std::int64_t kv_rows = 0;
  Reach reach = Reach::loc;
  std::int64_t ring = 0;      ///< rows a request slot; Reach::ring
  const Loc* locs = nullptr;  ///< full locs
  std::int64_t count = 0;
  const StampRow* rows = nullptr;  ///< ascending by `first`; null: one row, `single`
  std::int64_t row_count = 1;
  StampRow single;
  const Stamp* stamps = nullptr;  ///< what is stored or expected; null: the owner's

  [[nodiscard]] POOLPROOF_HD std::int64_t row_index(std::int64_t i) const {
    std::int64_t low = 0;
    for (std::int64_t high = row_count; rows != nullptr && high - low > 1;) {
      const std::int64_t middle = low + (high - low) / 2;
      (rows[middle].first <= i ? low : high) = middle;
    }
    return low;
  }
  [[nodiscard]] POOLPROOF_HD const StampRow& row_of(std::int64_t i) const {
    return rows == nullptr ? single : rows[row_index(i)];
  }
  [[nodiscard]] POOLPROOF_HD std::int64_t position(std::int64_t i) const {
    const StampRow& row = row_of(i);
    return row.first_pos + (i - row.first);
  }
  /// Where the KV of the i-th loc lies. A loc without a peer leads to the padding slot, which is nobody's.
  [[nodiscard]] POOLPROOF_HD std::int64_t address(std::int64_t i) const {
    switch (reach) {
      case Reach::peer:
        return pools.peer_of(locs[i]);
      case Reach::ring:
        return row_of(i).slot * ring + position(i) % ring;
      case Reach::loc:
        break;
    }
    return locs[i];
  }
  /// Does a later position of the batch lie in the same ring row? Then it alone is stored, whichever thread comes
  /// first.
  [[nodiscard]] POOLPROOF_HD bool overtaken(std::int64_t i) const {
    if (reach != Reach::ring) {
      return false;
    }
    const std::int64_t next = row_index(i) + 1;
    const std::int64_t end = rows == nullptr || next == row_count ? count : rows[next].first;
    return i + ring < end;
  }
  [[nodiscard]] POOLPROOF_HD bool inside(std::int64_t address_of_kv) const {
    return address_of_kv >= 0 && address_of_kv < kv_rows;
  }
  [[nodiscard]] POOLPROOF_HD Stamp stamp(std::int64_t i) const {
    return stamps != nullptr ? stamps[i] : row_of(i).owner | (static_cast<Stamp>(position(i)) & 0x3fffffffU);
  }
};

struct WideAddress {
  static constexpr std::string_view name = "write_stamps";
  static POOLPROOF_HD std::int64_t of(std::int64_t address) { return address; }
};

template <typename Address>
struct BasicWriteStampsKernel {
  static constexpr std::string_view name = Address::name;
  static constexpr int threads = 256;

  StampBatch batch;

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < batch.count; i += block.count() * threads) {
        const std::int64_t at = Address::of(batch.address(i));
        if (batch.inside(at) && !batch.overtaken(i)) {
          batch.kv[at] = batch.stamp(i);
        }
      }
    });
  }
};

using WriteStampsKernel = BasicWriteStampsKernel<WideAddress>;

struct ReadStampsKernel {
  static constexpr std::string_view name = "read_stamps";
  static constexpr int threads = 256;

  StampBatch batch;
  Stamp* out = nullptr;  ///< 0 where a loc leads out of the storage

  struct Shared {};

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& /*shared*/) const {
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < batch.count; i += block.count() * threads) {
        const std::int64_t at = batch.address(i);
        out[i] = batch.inside(at) ? batch.kv[at] : 0;
      }
    });
  }
};

/// The first position that reads otherwise than it should; `index` is past all where none does.
struct StampMismatch {
  std::int64_t index = INT64_MAX;  ///< in the batch
  std::int64_t row = 0;
  std::int64_t position = 0;
  Loc loc = 0;               ///< its full loc
  std::int64_t address = 0;  ///< where that led in the storage
  Stamp expected = 0;
  Stamp seen = 0;  ///< 0 where the address lies outside
};

struct VerifyStampsKernel {
  static constexpr std::string_view name = "verify_stamps";
  static constexpr int threads = 256;

  StampBatch batch;
  StampMismatch* first = nullptr;  ///< `index` is INT64_MAX before

  struct Shared {
    bool last_block;
  };

  [[nodiscard]] POOLPROOF_HD Stamp seen(std::int64_t i) const {
    const std::int64_t at = batch.address(i);
    return batch.inside(at) ? batch.kv[at] : 0;
  }

  template <typename Block>
  POOLPROOF_HD void operator()(Block& block, Shared& shared) const {
    block.each([&](int t) {
      for (std::int64_t i = block.index() * threads + t; i < batch.count; i += block.count() * threads) {
        if (seen(i) != batch.stamp(i)) {
          atomic_min(&first->index, i);
          break;
        }
      }
    });
    if (is_last_block(block, batch.pools.ticket, shared.last_block)) {
      block.each([&](int t) {
        const std::int64_t i = load_fresh(&first->index);
        if (t == 0 && i != INT64_MAX) {
          first->row = batch.row_index(i);
          first->position = batch.position(i);
          first->loc = batch.locs[i];
          first->address = batch.address(i);
          first->expected = batch.stamp(i);
          first->seen = seen(i);
        }
      });
    }
  }
};

}  // namespace poolproof::kernels
