// From logs to a trace: reads the files of one session in order, lifts each call as it comes, and says what the log
// shows by itself. Memory is the pool's, however long the log is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/result.hpp"
#include "recording/log_fault.hpp"
#include "recording/log_findings.hpp"
#include "recording/log_record.hpp"
#include "recording/trace_writer.hpp"

namespace poolproof {

struct ImportOptions {
  bool until_violation = false;  ///< the trace ends with the first call that is wrong
};

struct ImportReport {
  LogHeader header;  ///< of the first file
  std::uint64_t files = 0;
  std::uint64_t calls = 0;
  std::uint64_t missing = 0;  ///< calls
  std::uint64_t ops = 0;
  std::uint64_t rows = 0;
  std::uint64_t trace_bytes = 0;
  std::vector<std::string> cut_files;  ///< their writer was killed
  LogFindings findings;
  bool ended_early = false;  ///< until_violation, and there was one
  std::string broken;        ///< not empty: the twin itself failed, a fault of ours
};

/// The trace goes to `sink`. Faults are malformed logs; what the log shows is in the report.
Result<ImportReport, LogFault> import_logs(const std::vector<std::string>& paths, const ImportOptions& options,
                                           TextSink sink);

}  // namespace poolproof
