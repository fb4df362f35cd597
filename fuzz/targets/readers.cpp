// Everything else that reads text of others. The first byte says which reader, the rest is its text: workloads (CSV and
// JSONL, strict and lenient), a recorder's log, line by line and as a whole, an engine's message, the lines of the
// external protocol in both directions, and the keys of a pool line and of a synthetic workload.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/targets/demand.hpp"
#include "fuzz/targets/engine.hpp"
#include "fuzz/targets/protocol_lines.hpp"
#include "model/geometry.hpp"
#include "props/workload/synthetic.hpp"
#include "props/workload/workload_reader.hpp"
#include "recording/explain_message.hpp"
#include "recording/import.hpp"
#include "recording/log_parse.hpp"

namespace poolproof {
namespace {

void read_workload(std::string_view text, bool lenient) {
  WorkloadReader reader(lines_of(text), "workload", lenient);
  std::uint64_t latest = 0;
  while (true) {
    const auto request = reader.next();
    if (!request) {
      demand(!request.error().message.empty(), "a workload's error without a message");
      return;
    }
    if (!*request) {
      return;
    }
    demand((*request)->arrival_us >= latest, "a request that arrives before the one above it");
    demand((*request)->input_tokens >= 1 && (*request)->output_tokens >= 0, "a request without tokens");
    latest = (*request)->arrival_us;
  }
}

void read_strictly(std::string_view text) { read_workload(text, false); }
void read_leniently(std::string_view text) { read_workload(text, true); }

void read_log_lines(std::string_view text) {
  const LineSource lines = lines_of(text);
  LogRecord record;
  for (auto line = lines(); line && *line; line = lines()) {
    const auto fault = parse_log_line(**line, record);
    demand(!fault || !fault->message.empty(), "a log's fault without a message");
  }
}

/// Through a file without a name, since a log is opened by its path.
void read_log(std::string_view text) {
  const int file = memfd_create("log", 0);
  demand(file >= 0, "no file in memory can be made here");
  demand(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "the file cannot be written");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const auto report = import_logs({path}, {}, [](std::string_view) { return true; });
  demand(report || !report.error().message.empty(), "a log's fault without a message");
  demand(!report || report->broken.empty(), report ? report->broken : "");
  close(file);
}

void read_message(std::string_view text) {
  const EngineMessage message = read_engine_message(text);
  if (!message.empty()) {
    demand(!explain_engine_message(message, std::nullopt).empty(), "a message that is known and not explained");
  }
}

/// "key=value" a line.
void read_keys(std::string_view text) {
  const LineSource lines = lines_of(text);
  Geometry geometry;
  SyntheticWorkload workload;
  for (auto line = lines(); line && *line; line = lines()) {
    const std::string_view pair = **line;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    const auto fault = set_geometry_key(geometry, pair.substr(0, equals), value);
    demand(!fault || !fault->empty(), "a pool's fault without a message");
    set_synthetic_key(workload, pair.substr(0, equals), value);
  }
  const auto fault = geometry_fault(geometry);
  demand(!fault || !fault->empty(), "a pool's fault without a message");
}

using TextReader = void (*)(std::string_view);
constexpr std::array<TextReader, 7> readers = {read_strictly, read_leniently,      read_log_lines, read_log,
                                               read_message,  read_protocol_lines, read_keys};

}  // namespace
}  // namespace poolproof

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Letters and digits, so that an input is a text as a whole: '0' is the first reader.
    poolproof::readers.at((data[0] + poolproof::readers.size() * 7 - '0') % poolproof::readers.size())(text.substr(1));
  }
  return 0;
}
