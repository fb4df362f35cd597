#include "model/kv_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "model/geometry.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, 4> kind_names = {"none", "mha", "mla", "dsa"};
constexpr std::array<std::string_view, 4> type_names = {"bf16", "fp16", "fp8", "fp32"};
constexpr std::array<std::int64_t, 4> type_bytes = {2, 2, 1, 4};
constexpr std::array<std::string_view, 3> mode_names = {"on", "off", "backup"};
constexpr std::array<std::string_view, 3> tag_names = {"kv_cache", "weights", "all"};
constexpr std::array<std::string_view, buffer_part_count> part_names = {"k", "v", "kv", "index_k", "weights"};

template <typename Value, std::size_t count>
std::optional<Value> value_of(const std::array<std::string_view, count>& names, std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names.at(i) == name) {
      return static_cast<Value>(i);
    }
  }
  return std::nullopt;
}

template <typename Value, std::size_t count>
std::string_view name_of(const std::array<std::string_view, count>& names, Value value) {
  return names.at(static_cast<std::size_t>(value));
}

std::int64_t or_default(std::int64_t given, std::int64_t otherwise) { return given == 0 ? otherwise : given; }

void plan_layer(const KvShape& kv, BufferPlan layer, std::vector<BufferPlan>& out) {
  layer.row_bytes = kv.row_bytes();
  if (kv.kind != KvKind::mha) {
    layer.part = BufferPart::kv;
    out.push_back(layer);
    return;
  }
  for (const BufferPart part : {BufferPart::k, BufferPart::v}) {
    layer.part = part;
    out.push_back(layer);
  }
}

}  // namespace

std::int64_t KvShape::row_bytes() const {
  const bool mha = kind == KvKind::mha;
  return or_default(heads, mha ? 8 : 1) * or_default(head_dim, mha ? 128 : 576) * kv_type_bytes(type);
}

std::int64_t KvShape::index_row_bytes() const { return or_default(index_bytes, 132); }
std::int64_t KvShape::full_layer_count() const { return or_default(full_layers, 1); }
std::int64_t KvShape::swa_layer_count() const { return or_default(swa_layers, 1); }

std::string_view kv_kind_name(KvKind kind) { return name_of(kind_names, kind); }
std::optional<KvKind> kv_kind_from(std::string_view name) { return value_of<KvKind>(kind_names, name); }
std::string_view kv_type_name(KvType type) { return name_of(type_names, type); }
std::optional<KvType> kv_type_from(std::string_view name) { return value_of<KvType>(type_names, name); }
std::int64_t kv_type_bytes(KvType type) { return type_bytes.at(static_cast<std::size_t>(type)); }
std::string_view saver_mode_name(SaverMode mode) { return name_of(mode_names, mode); }
std::optional<SaverMode> saver_mode_from(std::string_view name) { return value_of<SaverMode>(mode_names, name); }
std::string_view memory_tag_name(MemoryTag tag) { return name_of(tag_names, tag); }
std::optional<MemoryTag> memory_tag_from(std::string_view name) { return value_of<MemoryTag>(tag_names, name); }
std::string_view buffer_part_name(BufferPart part) { return name_of(part_names, part); }

std::string BufferPlan::name() const {
  if (part == BufferPart::weights) {
    return "weights";
  }
  return fmt::format("{}.{}.{}", pool == Pool::full ? "full" : "swa", buffer_part_name(part), layer);
}

std::vector<BufferPlan> planned_buffers(const Geometry& g) {
  std::vector<BufferPlan> plan;
  const KvShape& kv = g.kv;
  if (kv.none()) {
    return plan;
  }
  const std::int64_t full_rows = g.full + g.page;
  for (std::int64_t layer = 0; layer < kv.full_layer_count(); ++layer) {
    plan_layer(kv, {BufferPart::kv, Pool::full, layer, full_rows, 0}, plan);
  }
  if (kv.kind == KvKind::dsa) {
    for (std::int64_t layer = 0; layer < kv.full_layer_count(); ++layer) {
      plan.push_back({BufferPart::index_k, Pool::full, layer, full_rows, kv.index_row_bytes()});
    }
  }
  if (g.hybrid()) {
    const std::int64_t swa_rows = g.ringed() ? (g.reqs + 1) * g.ring : g.swa + g.page;
    for (std::int64_t layer = 0; layer < kv.swa_layer_count(); ++layer) {
      plan_layer(kv, {BufferPart::kv, Pool::swa, layer, swa_rows, 0}, plan);
    }
  }
  if (kv.weights_bytes > 0) {
    plan.push_back({BufferPart::weights, Pool::full, 0, 1, kv.weights_bytes});
  }
  return plan;
}

}  // namespace poolproof
