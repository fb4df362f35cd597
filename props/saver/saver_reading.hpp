// What a memory saver does for whole pools: build them, write them full, pause, resume, destroy, and read at each step
// what the device counts. What `poolproof saver` shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impl/saver/saver_impls.hpp"
#include "model/geometry.hpp"
#include "model/result.hpp"
#include "props/generator.hpp"

namespace poolproof {

/// The buffers of one part of one side under one tag.
struct SaverRow {
  Pool pool = Pool::full;
  BufferPart part = BufferPart::kv;
  std::string tag;  ///< empty: in no region
  std::int64_t buffers = 0;
  std::int64_t built_bytes = 0;     ///< as planned
  std::int64_t freed_bytes = 0;     ///< whole granules that the pause took away
  std::int64_t resident_bytes = 0;  ///< after the pause
};

/// One pool's course.
struct SaverReading {
  std::string name;
  Geometry geometry;
  std::vector<SaverRow> rows;
  std::int64_t planned_bytes = 0;
  std::int64_t taken_bytes = 0;     ///< by the device's count: what building took,
  std::int64_t freed_bytes = 0;     ///< what the pause gave back,
  std::int64_t retaken_bytes = 0;   ///< what the resume took again,
  std::int64_t returned_bytes = 0;  ///< and what was back after the pools were destroyed
  double pause_s = 0;
  double resume_s = 0;
  std::vector<std::string> faults;  ///< what must hold and does not, a sentence each; see read_saver
  [[nodiscard]] std::int64_t resident_bytes() const { return taken_bytes - freed_bytes; }
  [[nodiscard]] bool holds() const { return faults.empty(); }
};

/// Builds the pools of a geometry (its weights aside), fills them, pauses and resumes them, and gives them up. Faults:
/// a buffer that moved, does not read zero or is not writable after the resume, a pause of which the device got less
/// than the ledger says, memory that did not come back. What stays resident because it is in no region is no fault
/// here: the rows tell it. The error says what could not be done.
Result<SaverReading, std::string> read_saver(const NamedGeometry& pools, const std::shared_ptr<VirtualMemory>& memory,
                                             const SaverParts& parts);

/// What an engine looks like from outside: bytes used at three points, as people read them from nvidia-smi.
struct EngineReading {
  std::int64_t idle_bytes = 0;      ///< before anything was loaded, where it is known
  std::int64_t loaded_bytes = 0;    ///< after load
  std::int64_t released_bytes = 0;  ///< after everything was released
  std::int64_t weights_bytes = 0;   ///< after the weights alone were resumed
};

/// What a reading says. `pools_pausable` is about the KV pools.
struct EngineVerdict {
  bool weights_pausable = false;
  bool pools_pausable = false;
  std::string what;  ///< a sentence or two
};

/// From three figures alone. `slack_bytes`: differences up to this count as none.
EngineVerdict judge_engine(const EngineReading& reading, std::int64_t slack_bytes);

/// Builds pools and weights, and takes the three readings.
Result<EngineReading, std::string> read_engine(const Geometry& geometry, const std::shared_ptr<VirtualMemory>& memory,
                                               const SaverParts& parts);

/// "21.19 GiB", "3.1 MiB", "0".
std::string size_text(std::int64_t bytes);

}  // namespace poolproof
