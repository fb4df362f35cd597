#include "props/saver/saver_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "impl/saver/content.hpp"
#include "impl/saver/demand.hpp"
#include "impl/storage_error.hpp"

namespace poolproof {
namespace {

constexpr std::byte first_pattern{0x5A};
constexpr std::byte second_pattern{0xA5};

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void demand_served(Answer answer, const char* doing) {
  if (answer != Answer::served) {
    throw StorageError(fmt::format("{} was refused", doing), "saver");
  }
}

/// One pool, step by step.
class Reader {
 public:
  Reader(const NamedGeometry& pools, std::shared_ptr<VirtualMemory> memory, const SaverParts& parts)
      : memory_(std::move(memory)), parts_(parts) {
    reading_.name = pools.name;
    reading_.geometry = pools.geometry;
    reading_.geometry.kv.weights_bytes = 0;
  }

  SaverReading run() {
    idle_ = memory_->used_bytes();
    pools_ = make_saved_pools(reading_.geometry, memory_, parts_);
    built_ = pools_->saver().ledger();
    reading_.taken_bytes = memory_->used_bytes() - idle_;
    fill(first_pattern);
    pause();
    resume();
    look_at_all();
    destroy();
    return std::move(reading_);
  }

 private:
  void fault(std::string what) { reading_.faults.push_back(std::move(what)); }

  void fill(std::byte pattern) {
    for (const SavedBuffer& buffer : pools_->saver().ledger()) {
      demand(memory_->fill(buffer.address, buffer.bytes, pattern));
    }
  }

  void pause() {
    const std::int64_t before = memory_->used_bytes();
    const auto begun = std::chrono::steady_clock::now();
    demand_served(pools_->pause(MemoryTag::kv_cache), "pause");
    reading_.pause_s = seconds_since(begun);
    reading_.freed_bytes = before - memory_->used_bytes();
    std::int64_t paused = 0;
    for (const BuiltBuffer& buffer : pools_->buffers()) {
      paused += add_row(buffer);
    }
    if (paused != reading_.freed_bytes && reading_.geometry.kv.saver != SaverMode::off) {
      fault(fmt::format("the ledger paused {} bytes, and the device counts {} less", paused, reading_.freed_bytes));
    }
  }

  /// Answers what the ledger says was taken away of the buffer.
  std::int64_t add_row(const BuiltBuffer& built) {
    const SavedBuffer& buffer = *pools_->saver().find(built.id);
    const auto same = [&](const SaverRow& row) {
      return row.pool == built.plan.pool && row.part == built.plan.part && row.tag == buffer.tag;
    };
    auto row = std::find_if(reading_.rows.begin(), reading_.rows.end(), same);
    if (row == reading_.rows.end()) {
      reading_.rows.push_back({built.plan.pool, built.plan.part, buffer.tag});
      row = reading_.rows.end() - 1;
    }
    const std::int64_t range = buffer.in_region() ? buffer.mapped_bytes : buffer.bytes;
    const std::int64_t resident = memory_->resident_bytes(buffer.address, range).value_or(buffer.paused ? 0 : range);
    ++row->buffers;
    row->built_bytes += built.plan.bytes();
    row->resident_bytes += resident;
    row->freed_bytes += buffer.paused ? buffer.mapped_bytes : 0;
    reading_.planned_bytes += built.plan.bytes();
    return buffer.paused ? buffer.mapped_bytes : 0;
  }

  void resume() {
    const std::int64_t before = memory_->used_bytes();
    const auto begun = std::chrono::steady_clock::now();
    const Answer answer = pools_->resume(MemoryTag::kv_cache);
    reading_.resume_s = seconds_since(begun);
    const bool nothing_paused = reading_.freed_bytes == 0;
    if (answer != Answer::served && !nothing_paused) {
      fault("resume was refused");
    }
    reading_.retaken_bytes = memory_->used_bytes() - before;
    if (reading_.retaken_bytes != reading_.freed_bytes) {
      fault(fmt::format("pause gave {} bytes back, and resume took {}", reading_.freed_bytes, reading_.retaken_bytes));
    }
  }

  /// After the resume: the same address, zero, writable.
  void look_at_all() {
    const auto& ledger = pools_->saver().ledger();
    for (std::size_t i = 0; i < ledger.size(); ++i) {
      const SavedBuffer& buffer = ledger[i];
      if (buffer.address != built_[i].address || buffer.bytes != built_[i].bytes) {
        fault(fmt::format("{} {} over the pause", buffer.name,
                          buffer.address != built_[i].address ? "moved" : "changed its size"));
      }
      look_at_content(buffer);
    }
  }

  void look_at_content(const SavedBuffer& buffer) {
    const bool given_up = buffer.in_region() && !buffer.backed_up;
    if (!given_up) {
      return;
    }
    if (!demand(look_at(*memory_, buffer.address, buffer.bytes)).zero) {
      fault(fmt::format("{} does not read zero after the resume", buffer.name));
    }
    demand(memory_->fill(buffer.address, buffer.bytes, second_pattern));
    std::array<std::byte, 1> last{};
    demand(memory_->read(buffer.address + static_cast<Address>(buffer.bytes - 1), last));
    if (last.front() != second_pattern) {
      fault(fmt::format("{} does not keep what is written after the resume", buffer.name));
    }
  }

  void destroy() {
    const std::int64_t before = memory_->used_bytes();
    demand_served(pools_->destroy(), "destroy");
    reading_.returned_bytes = before - memory_->used_bytes();
    if (memory_->used_bytes() != idle_) {
      fault(fmt::format("{} bytes did not come back when the pools were destroyed", memory_->used_bytes() - idle_));
    }
    pools_.reset();
  }

  std::shared_ptr<VirtualMemory> memory_;
  const SaverParts& parts_;
  SaverReading reading_;
  std::shared_ptr<SavedPools> pools_;
  std::deque<SavedBuffer> built_;
  std::int64_t idle_ = 0;
};

bool near(std::int64_t a, std::int64_t b, std::int64_t slack) { return std::llabs(a - b) <= slack; }

}  // namespace

Result<SaverReading, std::string> read_saver(const NamedGeometry& pools, const std::shared_ptr<VirtualMemory>& memory,
                                             const SaverParts& parts) {
  try {
    return Reader(pools, memory, parts).run();
  } catch (const StorageError& error) {
    return fmt::format("{}: {}", pools.name, error.what());
  }
}

Result<EngineReading, std::string> read_engine(const Geometry& geometry, const std::shared_ptr<VirtualMemory>& memory,
                                               const SaverParts& parts) {
  try {
    EngineReading reading;
    reading.idle_bytes = memory->used_bytes();
    const std::shared_ptr<SavedPools> pools = make_saved_pools(geometry, memory, parts);
    reading.loaded_bytes = memory->used_bytes();
    demand_served(pools->pause(MemoryTag::all), "pause all");
    reading.released_bytes = memory->used_bytes();
    demand_served(pools->resume(MemoryTag::weights), "resume weights");
    reading.weights_bytes = memory->used_bytes();
    return reading;
  } catch (const StorageError& error) {
    return std::string(error.what());
  }
}

EngineVerdict judge_engine(const EngineReading& reading, std::int64_t slack_bytes) {
  const std::int64_t freed = reading.loaded_bytes - reading.released_bytes;
  const std::int64_t retaken = reading.weights_bytes - reading.released_bytes;
  const std::int64_t pools = freed - retaken;
  EngineVerdict verdict;
  verdict.weights_pausable = retaken > slack_bytes;
  verdict.pools_pausable = pools > slack_bytes;
  if (near(freed, 0, slack_bytes)) {
    verdict.what = "nothing was released: neither weights nor KV pools are in a region";
  } else if (near(pools, 0, slack_bytes)) {
    verdict.what = fmt::format(
        "only the weights are pausable: resuming them alone took all {} back that was released, so the KV pools stayed "
        "resident. Had they been in the region, the third figure would lie between the other two",
        size_text(freed));
  } else if (pools < 0) {
    verdict.what = fmt::format(
        "resuming the weights took {} more than was released: the readings are not of one engine", size_text(-pools));
  } else if (near(retaken, 0, slack_bytes)) {
    verdict.what =
        fmt::format("only the KV pools are pausable: {} came back, and none of it is the weights'", size_text(freed));
  } else {
    verdict.what = fmt::format("weights ({}) and KV pools ({}) are pausable", size_text(retaken), size_text(pools));
  }
  if (reading.idle_bytes > 0 && reading.released_bytes - reading.idle_bytes > slack_bytes) {
    verdict.what +=
        fmt::format("; {} of what was loaded stayed resident", size_text(reading.released_bytes - reading.idle_bytes));
  }
  return verdict;
}

std::string size_text(std::int64_t bytes) {
  constexpr double kib = 1024;
  const auto size = static_cast<double>(bytes);
  if (std::llabs(bytes) >= std::int64_t{1} << 30) {
    return fmt::format("{:.2f} GiB", size / kib / kib / kib);
  }
  if (std::llabs(bytes) >= std::int64_t{1} << 20) {
    return fmt::format("{:.2f} MiB", size / kib / kib);
  }
  return bytes == 0 ? "0" : fmt::format("{:.1f} KiB", size / kib);
}

}  // namespace poolproof
