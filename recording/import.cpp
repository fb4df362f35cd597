#include "recording/import.hpp"

#include <fmt/format.h>

#include <utility>

#include "recording/lifter.hpp"
#include "recording/log_parse.hpp"
#include "recording/log_reader.hpp"

namespace poolproof {
namespace {

class Import {
 public:
  Import(const std::vector<std::string>& paths, const ImportOptions& options, TextSink sink)
      : paths_(paths), options_(options), writer_(std::move(sink)) {}

  Result<ImportReport, LogFault> run();

 private:
  using Fault = std::optional<LogFault>;

  Fault read_file(std::size_t index);
  Fault take_line(std::string_view line, LogReader& reader, bool& first);
  Fault take_header();
  Fault begin();
  Fault take_record();
  [[nodiscard]] LogFault fault(std::string message, std::string expected) const {
    return {std::string(place_.file), place_.line, std::move(message), std::move(expected)};
  }
  [[nodiscard]] bool over() const {
    return writer_.failed() || (lifter_ && !lifter_->broken().empty()) ||
           (options_.until_violation && report_.findings.wrong());
  }

  const std::vector<std::string>& paths_;
  ImportOptions options_;
  TraceWriter writer_;
  ImportReport report_;
  std::vector<std::string> names_;  ///< of the files, for places
  std::unique_ptr<Lifter> lifter_;
  LogRecord record_;
  CallPlace place_;
  std::uint64_t next_n_ = 0;
  std::uint64_t next_file_ = 0;
};

std::string cut_note(const std::string& file) {
  return fmt::format("{} ends in the middle of a line or a zstd frame: what is complete was used", file);
}

/// A header of the same session, and the next file of it.
std::optional<LogFault> Import::take_header() {
  const LogHeader& header = record_.header;
  if (report_.files == 0) {
    return begin();
  }
  if (header.session != report_.header.session) {
    return fault(
        fmt::format("session '{}' is not '{}', that of the first file", header.session, report_.header.session),
        "files of one session; import each session by itself");
  }
  if (header.file < next_file_) {
    return fault(fmt::format("file {} of the session comes after file {}", header.file, next_file_ - 1),
                 "the files in order");
  }
  if (header.geometry.layout != report_.header.geometry.layout ||
      header.geometry.page != report_.header.geometry.page) {
    return fault("the pool is of another layout or page size than in the first file", "one pool a session");
  }
  return std::nullopt;
}

std::optional<LogFault> Import::begin() {
  report_.header = record_.header;
  LogHeader& header = report_.header;
  auto twin = Twin::make(header.geometry);
  if (!twin) {
    return fault("the pool cannot be built: " + twin.error(), {});
  }
  // What came before the first file at hand is as unknown as what came before the recording.
  header.fresh = header.fresh && header.file == 0 && record_.n == 0;
  next_n_ = record_.n;
  writer_.begin(header.geometry,
                {fmt::format("imported from {}", place_.file),
                 fmt::format("session {}, {}, {}", header.session, header.engine, header.allocator_class),
                 "n is the number of the call in the log"});
  lifter_ = std::make_unique<Lifter>(std::move(twin).value(), writer_, report_.findings);
  lifter_->begin(header, place_);
  return std::nullopt;
}

std::optional<LogFault> Import::take_record() {
  if (record_.n < next_n_) {
    return fault(fmt::format("call {} comes after call {}", record_.n, next_n_ - 1), "calls in order");
  }
  place_.n = record_.n;
  const bool loss = record_.line == LogLine::loss;
  place_.call = loss ? "lost" : record_.call.name;
  const std::uint64_t missing = record_.n - next_n_ + (loss ? record_.lost : 0);
  if (missing > 0) {
    report_.missing += missing;
    lifter_->lose(missing, place_);
  }
  next_n_ = record_.n + (loss ? record_.lost : 1);
  if (!loss) {
    ++report_.calls;
    lifter_->take(record_.call, place_);
  }
  return std::nullopt;
}

std::optional<LogFault> Import::take_line(std::string_view line, LogReader& reader, bool& first) {
  place_ = {names_.back(), reader.line(), next_n_, {}};
  if (std::optional<LineFault> bad = parse_log_line(line, record_)) {
    if (reader.unterminated()) {
      report_.cut_files.push_back(names_.back());
      return std::nullopt;
    }
    return fault(std::move(bad->message), std::move(bad->expected));
  }
  const bool header = record_.line == LogLine::header;
  if (header != first) {
    return first ? fault("the file does not begin with a header", R"({"poolproof_log": 1, ...})")
                 : fault("a second header in one file", "a call");
  }
  if (!header) {
    return take_record();
  }
  first = false;
  place_.call = "header";
  if (Fault bad = take_header()) {
    return bad;
  }
  ++report_.files;
  next_file_ = record_.header.file + 1;
  return std::nullopt;
}

std::optional<LogFault> Import::read_file(std::size_t index) {
  Result<LogReader, LogFault> reader = LogReader::open(paths_[index]);
  if (!reader) {
    return reader.error();
  }
  names_.push_back(reader->name());
  bool first = true;
  bool more = true;
  const std::size_t cut_before = report_.cut_files.size();
  while (more && !over()) {
    const Result<std::optional<std::string_view>, LogFault> line = reader->next();
    if (!line) {
      return line.error();
    }
    more = line->has_value();
    if (more) {
      if (Fault bad = take_line(**line, *reader, first)) {
        return bad;
      }
    }
  }
  if (!more && reader->cut() && report_.cut_files.size() == cut_before) {
    report_.cut_files.push_back(names_.back());
  }
  if (first && report_.files > 0 && report_.cut_files.size() == cut_before && !over()) {
    report_.cut_files.push_back(names_.back());  // the writer was killed when it had just begun the file
  }
  if (first && report_.cut_files.size() == cut_before && !over()) {
    return LogFault{names_.back(), 1, "the file is empty", R"(a header: {"poolproof_log": 1, ...})"};
  }
  if (report_.files == 0 && !over()) {
    return LogFault{names_.back(), 1, "the file was cut off before its first line ended", "a whole header"};
  }
  if (lifter_ && report_.cut_files.size() > cut_before) {
    writer_.comment(cut_note(names_.back()));
  }
  return std::nullopt;
}

Result<ImportReport, LogFault> Import::run() {
  names_.reserve(paths_.size());  // places point into it
  for (std::size_t i = 0; i < paths_.size() && !over(); ++i) {
    if (Fault bad = read_file(i)) {
      return *std::move(bad);
    }
  }
  if (!over()) {
    lifter_->finish();
  }
  report_.ended_early = options_.until_violation && report_.findings.wrong();
  report_.broken = lifter_->broken();
  report_.ops = lifter_->ops();
  report_.rows = lifter_->rows_used();
  writer_.end();
  report_.trace_bytes = writer_.bytes();
  return std::move(report_);
}

}  // namespace

Result<ImportReport, LogFault> import_logs(const std::vector<std::string>& paths, const ImportOptions& options,
                                           TextSink sink) {
  return Import(paths, options, std::move(sink)).run();
}

}  // namespace poolproof
