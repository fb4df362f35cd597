// A trace from a file: what is too large or cannot be read is refused before it costs memory.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/trace_error.hpp"

namespace poolproof {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

std::string system_message(int number) { return std::generic_category().message(number); }

/// Directories, missing files, and files whose size alone is too much.
std::optional<TextError> refused(const std::string& path, const TextLimits& limits) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found) {
    return file_error(path, "there is no such file");
  }
  if (code) {
    return file_error(path, "cannot be read: " + code.message());
  }
  if (std::filesystem::is_directory(status)) {
    return file_error(path, "is a directory, not a trace");
  }
  if (std::filesystem::is_regular_file(status)) {
    const std::uintmax_t bytes = std::filesystem::file_size(path, code);
    if (!code && bytes > limits.file_bytes) {
      return file_error(path, fmt::format("the file has {} bytes; a trace has at most {}", bytes, limits.file_bytes));
    }
  }
  return std::nullopt;
}

/// Pipes tell no size: one byte over the limit of the file, or of a line, is enough to know, and the parser says the
/// rest.
int read_all(std::FILE* file, const TextLimits& limits, std::string& text) {
  std::size_t line_begin = 0;
  while (text.size() <= limits.file_bytes && text.size() - line_begin <= limits.line_bytes) {
    const std::size_t before = text.size();
    const std::size_t wanted = std::min(chunk_bytes, limits.file_bytes + 1 - before);
    text.resize(before + wanted);
    const std::size_t got = std::fread(text.data() + before, 1, wanted, file);
    text.resize(before + got);
    const std::size_t newline = text.rfind('\n');
    line_begin = newline == std::string::npos ? 0 : newline + 1;
    if (got < wanted) {
      return std::ferror(file) != 0 ? errno : 0;
    }
  }
  return 0;
}

}  // namespace

Result<Trace, TextError> load_trace(const std::string& path, const TextLimits& limits) {
  if (auto error = refused(path, limits)) {
    return *std::move(error);
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return file_error(path, "cannot be read: " + system_message(errno));
  }
  return read_trace(file.get(), path, limits);
}

Result<Trace, TextError> read_trace(std::FILE* file, const std::string& name, const TextLimits& limits) {
  std::string text;
  if (const int number = read_all(file, limits, text); number != 0) {
    return file_error(name, "cannot be read: " + system_message(number));
  }
  return parse_trace(text, name, limits);
}

}  // namespace poolproof
