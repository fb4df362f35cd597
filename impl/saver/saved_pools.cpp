#include "impl/saver/saved_pools.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "impl/saver/content.hpp"
#include "impl/saver/demand.hpp"

namespace poolproof {
namespace {

std::optional<std::string_view> name_of(MemoryTag tag) {
  return tag == MemoryTag::all ? std::nullopt : std::optional(memory_tag_name(tag));
}

/// Rows [begin, end) of a call that follow each other, so that they go in one copy.
std::size_t run_end(std::span<const std::int64_t> rows, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < rows.size() && rows[end] == rows[end - 1] + 1) {
    ++end;
  }
  return end;
}

BufferReport reported(const SavedBuffer& buffer, const VirtualMemory& memory) {
  BufferReport report;
  report.name = buffer.name;
  report.bytes = buffer.bytes;
  report.tag = buffer.tag;
  report.address = buffer.address;
  report.paused = buffer.paused;
  const std::int64_t range = buffer.in_region() ? buffer.mapped_bytes : buffer.bytes;
  report.resident_bytes = memory.resident_bytes(buffer.address, range);
  return report;
}

}  // namespace

SavedPools::SavedPools(const Geometry& geometry, std::unique_ptr<MemorySaver> saver,
                       std::unique_ptr<PoolBuilder> builder)
    : geometry_(geometry), saver_(std::move(saver)), builder_(std::move(builder)) {
  demand(builder_->build_weights(geometry_, *saver_));
  build_all();
}

void SavedPools::build_all() { buffers_ = demand(builder_->build_pools(geometry_, *saver_)); }

namespace {

/// A refusal, or nothing wrong. Engines take a tag that no buffer is under for one that is paused and done with.
std::optional<Answer> answered(const SaverFault& fault, SaverErrorKind refusal) {
  if (!fault) {
    return Answer::served;
  }
  if (fault->kind == SaverErrorKind::unknown_tag) {
    return refusal == SaverErrorKind::already_paused ? Answer::served : Answer::refused;
  }
  return fault->kind == refusal ? std::optional(Answer::refused) : std::nullopt;
}

}  // namespace

Answer SavedPools::pause(MemoryTag tag) {
  const SaverFault fault = saver_->pause(name_of(tag));
  if (const std::optional<Answer> answer = answered(fault, SaverErrorKind::already_paused)) {
    return *answer;
  }
  demand(fault);
  return Answer::failed;
}

Answer SavedPools::resume(MemoryTag tag) {
  const SaverFault fault = saver_->resume(name_of(tag));
  if (const std::optional<Answer> answer = answered(fault, SaverErrorKind::not_paused)) {
    resumes_ += *answer == Answer::served && names_tag(tag, MemoryTag::kv_cache) ? 1 : 0;
    return *answer;
  }
  demand(fault);
  return Answer::failed;
}

Answer SavedPools::destroy() {
  for (const BuiltBuffer& buffer : buffers_) {
    demand(saver_->free(buffer.id));
  }
  buffers_.clear();
  return Answer::served;
}

Answer SavedPools::build() {
  build_all();
  return Answer::served;
}

bool SavedPools::paused(MemoryTag tag) const {
  return std::any_of(saver_->ledger().begin(), saver_->ledger().end(), [tag](const SavedBuffer& buffer) {
    return buffer.paused && (tag == MemoryTag::all || buffer.tag == memory_tag_name(tag));
  });
}

Answer SavedPools::report(MemoryReport& out) {
  const VirtualMemory& memory = saver_->memory();
  out.buffers.clear();
  for (const SavedBuffer& buffer : saver_->ledger()) {
    BufferReport report = reported(buffer, memory);
    if (!buffer.paused) {
      const Content content = demand(look_at(memory, buffer.address, buffer.bytes));
      report.zero = content.zero;
      report.digest = content.digest;
    }
    out.buffers.push_back(std::move(report));
  }
  out.used_bytes = memory.used_bytes();
  out.granule_bytes = memory.granule_bytes();
  return Answer::served;
}

// ---- KV

void SavedPools::store(Pool side, std::span<const std::int64_t> rows, std::span<const Stamp> stamps) {
  for (const BuiltBuffer& buffer : buffers_) {
    const std::int64_t stride = buffer.plan.row_bytes;
    for (std::size_t begin = 0, end = 0; buffer.plan.pool == side && begin < rows.size(); begin = end) {
      end = run_end(rows, begin);
      demand(saver_->write_stamps(buffer.id, rows[begin] * stride, stride, stamps.subspan(begin, end - begin)));
    }
  }
}

void SavedPools::load(Pool side, std::span<const std::int64_t> rows, std::span<Stamp> out) {
  scratch_.resize(rows.size());
  bool first = true;
  for (const BuiltBuffer& buffer : buffers_) {
    if (buffer.plan.pool != side) {
      continue;
    }
    load_buffer(buffer, rows, first ? out : std::span<Stamp>(scratch_));
    if (!first && !std::equal(out.begin(), out.end(), scratch_.begin())) {
      std::copy(scratch_.begin(), scratch_.end(), out.begin());
      return;
    }
    first = false;
  }
}

void SavedPools::load_buffer(const BuiltBuffer& buffer, std::span<const std::int64_t> rows, std::span<Stamp> out) {
  const std::int64_t stride = buffer.plan.row_bytes;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    end = run_end(rows, begin);
    demand(saver_->read_stamps(buffer.id, rows[begin] * stride, stride, out.subspan(begin, end - begin)));
  }
}

}  // namespace poolproof
