// The memory behind a pool: which buffers a pool builder of an engine allocates, of what size, under which tag of the
// memory saver (docs/saver.md). A trace's pool line says it by `kv=` and the keys beside it; without `kv=` a pool is
// known by its locs alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hpp"

namespace poolproof {

struct Geometry;

/// How one layer keeps a token. mha: a K and a V buffer. mla: one buffer of compressed rows. dsa: as mla, and an
/// index-K buffer a full layer.
enum class KvKind : std::uint8_t { none, mha, mla, dsa };

enum class KvType : std::uint8_t { bf16, fp16, fp8, fp32 };

/// off: the builder's flag is off and the region does nothing. on: content is given up at a pause. backup: it is kept
/// on the host, and comes back at the resume.
enum class SaverMode : std::uint8_t { on, off, backup };

/// Tags that a trace may name. Weights are always backed up.
enum class MemoryTag : std::uint8_t { kv_cache, weights, all };

/// A number that is 0 is its kind's default.
struct KvShape {
  KvKind kind = KvKind::none;
  std::int64_t full_layers = 0;  ///< default 1
  std::int64_t swa_layers = 0;   ///< hybrid only; default 1
  std::int64_t heads = 0;        ///< default 8 for mha, 1 else
  std::int64_t head_dim = 0;     ///< default 128 for mha, 576 else
  KvType type = KvType::bf16;
  std::int64_t index_bytes = 0;  ///< dsa only: index-K a token; default 132
  SaverMode saver = SaverMode::on;
  std::int64_t weights_bytes = 0;  ///< of a buffer beside the pool, under a tag of its own; 0 = there is none

  bool operator==(const KvShape&) const = default;

  [[nodiscard]] bool none() const { return kind == KvKind::none; }
  /// Bytes of one token in one buffer of a layer (index-K aside).
  [[nodiscard]] std::int64_t row_bytes() const;
  [[nodiscard]] std::int64_t index_row_bytes() const;
  [[nodiscard]] std::int64_t full_layer_count() const;
  [[nodiscard]] std::int64_t swa_layer_count() const;
};

/// Limits that keep every sum of bytes in 64 bits.
inline constexpr std::int64_t max_kv_layers = 1024;
inline constexpr std::int64_t max_row_bytes = std::int64_t{1} << 20;
inline constexpr std::int64_t max_weights_bytes = std::int64_t{1} << 50;
/// A row holds a stamp at least (model/stamp.hpp).
inline constexpr std::int64_t min_row_bytes = 8;

std::string_view kv_kind_name(KvKind kind);
std::optional<KvKind> kv_kind_from(std::string_view name);
std::string_view kv_type_name(KvType type);
std::optional<KvType> kv_type_from(std::string_view name);
std::int64_t kv_type_bytes(KvType type);
std::string_view saver_mode_name(SaverMode mode);
std::optional<SaverMode> saver_mode_from(std::string_view name);
/// "kv_cache", "weights", "all".
std::string_view memory_tag_name(MemoryTag tag);
std::optional<MemoryTag> memory_tag_from(std::string_view name);

/// What a buffer holds.
enum class BufferPart : std::uint8_t { k, v, kv, index_k, weights };
inline constexpr std::size_t buffer_part_count = 5;
std::string_view buffer_part_name(BufferPart part);

/// One buffer that the builder of a pool must allocate.
struct BufferPlan {
  BufferPart part = BufferPart::kv;
  Pool pool = Pool::full;  ///< whose tokens are its rows
  std::int64_t layer = 0;
  std::int64_t rows = 0;  ///< tokens and a page of padding; with a ring its rows, those of slot 0 included
  std::int64_t row_bytes = 0;

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
  [[nodiscard]] MemoryTag tag() const { return part == BufferPart::weights ? MemoryTag::weights : MemoryTag::kv_cache; }
  /// "full.k.3", "swa.kv.0", "full.index_k.2", "weights".
  [[nodiscard]] std::string name() const;
  bool operator==(const BufferPlan&) const = default;
};

/// Does pausing or resuming `named` reach memory under `tag`?
constexpr bool names_tag(MemoryTag named, MemoryTag tag) { return named == MemoryTag::all || named == tag; }

/// Every buffer of a pool of this geometry, the weights last. Empty without `kv=`.
std::vector<BufferPlan> planned_buffers(const Geometry& g);

/// Rounded up to whole granules, as device memory is mapped.
constexpr std::int64_t whole_granules(std::int64_t bytes, std::int64_t granule_bytes) {
  return (bytes + granule_bytes - 1) / granule_bytes * granule_bytes;
}

}  // namespace poolproof
