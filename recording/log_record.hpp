// One line of a recorder's log as values (docs/recording.md): a header, a call, or a note that calls are missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/geometry.hpp"
#include "model/units.hpp"

namespace poolproof {

/// `count` consecutive locs.
struct LoggedRun {
  Loc first = 0;
  std::int64_t count = 0;
};
using LoggedRuns = std::vector<LoggedRun>;

struct LogSegment {
  LoggedRuns locs;
  Pos start_pos = 0;
};

/// The call raised.
struct LogError {
  std::string type;
  std::string text;
  std::string where;
};

/// Available sizes after a call, in tokens; what the recorder could not read without waiting is left out.
struct LogGauges {
  std::optional<Tokens> full;
  std::optional<Tokens> swa;
};

enum class LogCallKind : std::uint8_t {
  alloc,
  extend,
  decode,
  tail,
  free,
  free_segments,
  group_begin,
  group_end,
  set_mapping,
  clear_mapping,
  clear,
  resize,
  backup,
  restore,
  take_slot,
  give_slot,
  look,  ///< changes nothing: translate, gauges, census, KV
};

/// A call with its arguments and its answer; which fields mean something depends on the kind.
struct LogCall {
  LogCallKind kind = LogCallKind::look;
  std::string_view name;         ///< as the log has it; points to static text
  Side side = Side::both;        ///< of a free
  bool served = true;            ///< lending, take_slot: false = refused
  bool again = false;            ///< a probe of the group's state
  std::vector<Pos> prefix_lens;  ///< extend, tail; decode: seq_lens less one
  std::vector<Pos> seq_lens;     ///< extend, decode, tail
  Locs last_locs;                ///< extend, decode, tail
  Tokens tokens = 0;             ///< alloc
  Tokens tail_len = 0;           ///< tail
  Pos tail_end = 0;              ///< tail
  LoggedRuns locs;               ///< lending: the answer; free, mapping: the argument
  LoggedRuns swa_locs;           ///< set_mapping
  std::vector<LogSegment> segments;
  Tokens full_size = 0;  ///< resize
  Tokens swa_size = 0;   ///< resize
  std::int64_t key = 0;  ///< backup, restore
  std::int64_t slot = -1;
  std::optional<LogError> error;
  LogGauges gauges;
};

struct LogHeader {
  std::string session;
  std::string engine;
  std::string allocator_class;
  std::uint64_t file = 0;  ///< number of the file in its session, from 0
  Geometry geometry;
  bool fresh = true;
  LogGauges gauges;
};

enum class LogLine : std::uint8_t { header, call, loss };

/// Filled anew by each line; buffers are reused.
struct LogRecord {
  LogLine line = LogLine::call;
  std::uint64_t n = 0;  ///< of the call; header: of the next call; loss: of the first missing call
  LogHeader header;
  LogCall call;
  std::uint64_t lost = 0;
};

}  // namespace poolproof
