#include "props/workload/workload_reader.hpp"

#include <algorithm>
#include <utility>

#include "model/trace_error.hpp"
#include "props/workload/workload_row.hpp"

namespace poolproof {
namespace {

std::string_view without_return(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

bool blank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; });
}

}  // namespace

std::string_view workload_format_name(WorkloadFormat format) {
  return format == WorkloadFormat::azure_csv ? "Azure CSV" : "Mooncake JSONL";
}

Result<std::optional<std::string_view>, TextError> WorkloadReader::line() {
  for (;;) {
    Result<std::optional<std::string_view>, TextError> read = lines_();
    if (!read || !*read) {
      return read;
    }
    ++line_number_;
    const std::string_view text = without_return(**read);
    if (!blank(text)) {
      return std::optional(text);
    }
  }
}

/// Tells the format by the first line.
std::optional<TextError> WorkloadReader::begin(std::string_view line) {
  if (line.starts_with('{')) {
    format_ = WorkloadFormat::mooncake_jsonl;
    return std::nullopt;
  }
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  const std::string_view header = line.starts_with(byte_order_mark) ? line.substr(byte_order_mark.size()) : line;
  if (header == azure_columns) {
    format_ = WorkloadFormat::azure_csv;
    return std::nullopt;
  }
  return text_error(file_, line_number_, line,
                    {0, "this is no workload that is known",
                     std::string(azure_columns) + " (Azure's CSV), or a JSON object a line (Mooncake's JSONL)"});
}

std::optional<LineFailure> WorkloadReader::read(std::string_view line, Request& request) {
  const bool azure = format_ == WorkloadFormat::azure_csv;
  if (auto failure = azure ? read_azure_row(line, request) : read_mooncake_row(line, request)) {
    return failure;
  }
  if (request.arrival_us < latest_us_) {
    return LineFailure{0, "this request arrives before the one above it", "rows in the order of their arrival"};
  }
  latest_us_ = request.arrival_us;
  if (!first_us_) {
    first_us_ = request.arrival_us;
  }
  request.arrival_us -= *first_us_;
  return std::nullopt;
}

Result<std::optional<Request>, TextError> WorkloadReader::next() {
  for (;;) {
    const Result<std::optional<std::string_view>, TextError> text = line();
    if (!text) {
      return text.error();
    }
    if (!*text) {
      if (!begun_) {
        return file_error(file_, "the workload is empty");
      }
      return std::optional<Request>();
    }
    if (!std::exchange(begun_, true)) {
      if (std::optional<TextError> error = begin(**text)) {
        return *std::move(error);
      }
      if (format_ == WorkloadFormat::azure_csv) {
        continue;
      }
    }
    Request request;
    std::optional<LineFailure> failure = read(**text, request);
    if (!failure) {
      return std::optional(std::move(request));
    }
    if (!lenient_) {
      return text_error(file_, line_number_, **text, *std::move(failure));
    }
    ++skipped_;
  }
}

LineSource lines_of(std::string_view text) {
  return [text, at = std::size_t{0}]() mutable -> Result<std::optional<std::string_view>, TextError> {
    if (at >= text.size()) {
      return std::optional<std::string_view>();
    }
    const std::size_t begin = at;
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline;
    at = end + 1;
    return std::optional(text.substr(begin, end - begin));
  };
}

}  // namespace poolproof
