#include "cli/workload_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/names.hpp"
#include "props/workload/synthetic.hpp"
#include "recording/log_reader.hpp"

namespace poolproof::cli {
namespace {

constexpr std::string_view synthetic = "synthetic";

TextError as_text_error(const LogFault& fault) {
  TextError error;
  error.file = fault.file;
  error.line = static_cast<std::uint32_t>(fault.line);
  error.column = 1;
  error.message = fault.message;
  error.expected = fault.expected;
  return error;
}

Result<OpenWorkload, Complaint> open_synthetic(const WorkloadSpec& spec) {
  SyntheticWorkload workload;
  std::string_view keys = spec.name;
  keys.remove_prefix(std::min(keys.size(), synthetic.size() + 1));
  if (!keys.empty()) {
    for (const std::string_view part : split(keys, ',')) {
      const std::size_t equals = std::min(part.find('='), part.size());
      const std::string_view value = equals < part.size() ? part.substr(equals + 1) : std::string_view();
      if (const auto fault = set_synthetic_key(workload, part.substr(0, equals), value)) {
        return Complaint{fmt::format("{}: {}", spec.name, *fault)};
      }
    }
  }
  return OpenWorkload{synthetic_requests(workload, spec.seed), nullptr};
}

}  // namespace

std::string_view OpenWorkload::format() const { return reader ? workload_format_name(reader->format()) : synthetic; }

Result<OpenWorkload, Complaint> open_workload(const WorkloadSpec& spec) {
  if (spec.name == synthetic || spec.name.starts_with("synthetic:")) {
    return open_synthetic(spec);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(spec.name, ignored)) {
    return Complaint{fmt::format("{}: that is a folder; name a workload file in it", spec.name)};
  }
  Result<LogReader, LogFault> opened = LogReader::open(spec.name);
  if (!opened) {
    return Complaint{fmt::format("cannot read {}: {}; a workload is an Azure CSV, a Mooncake JSONL, or 'synthetic'",
                                 spec.name, opened.error().message)};
  }
  auto lines = std::make_shared<LogReader>(std::move(*opened));
  const std::string name = lines->name();
  LineSource source = [lines]() -> Result<std::optional<std::string_view>, TextError> {
    const auto line = lines->next();
    if (!line) {
      return as_text_error(line.error());
    }
    if (!*line && lines->cut()) {
      return as_text_error({lines->name(), lines->line(), "the file ends in the middle of a zstd frame", {}});
    }
    return *line;
  };
  auto reader = std::make_shared<WorkloadReader>(std::move(source), name, spec.lenient);
  return OpenWorkload{[reader] { return reader->next(); }, reader};
}

}  // namespace poolproof::cli
