// A workload file, row by row: which format it has, rows in the order of their arrival, what is wrong and where.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/result.hpp"
#include "model/trace_cursor.hpp"
#include "model/trace_text.hpp"
#include "props/workload/request.hpp"

namespace poolproof {

/// The lines of a file without their ends, each valid until the next is asked for; nothing at the end.
using LineSource = std::function<Result<std::optional<std::string_view>, TextError>()>;

enum class WorkloadFormat : std::uint8_t { azure_csv, mooncake_jsonl };
std::string_view workload_format_name(WorkloadFormat format);

/// Holds one row at a time, so that a file of any length takes no more memory than its longest line.
class WorkloadReader {
 public:
  /// `file` is what errors call it. lenient: malformed rows are counted and left out.
  WorkloadReader(LineSource lines, std::string file, bool lenient)
      : lines_(std::move(lines)), file_(std::move(file)), lenient_(lenient) {}

  /// The next request, its arrival counted from the first one's. The format is told by the file's first line, which
  /// must be right even when lenient. A row that arrives before the one above it is malformed.
  Result<std::optional<Request>, TextError> next();

  /// Malformed rows left out so far.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  /// Known once a request was read.
  [[nodiscard]] WorkloadFormat format() const { return format_; }

 private:
  /// The next line that is not blank.
  Result<std::optional<std::string_view>, TextError> line();
  std::optional<TextError> begin(std::string_view line);
  std::optional<LineFailure> read(std::string_view line, Request& request);

  LineSource lines_;
  std::string file_;
  bool lenient_;
  bool begun_ = false;
  WorkloadFormat format_ = WorkloadFormat::azure_csv;
  std::uint32_t line_number_ = 0;
  std::uint64_t skipped_ = 0;
  std::optional<std::uint64_t> first_us_;
  std::uint64_t latest_us_ = 0;
};

/// Lines of a text that outlives the source.
LineSource lines_of(std::string_view text);

}  // namespace poolproof
