#include "recording/trace_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/trace_error.hpp"
#include "recording/zstd_unpacker.hpp"

namespace poolproof {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const {
    if (file != stdin) {
      std::fclose(file);
    }
  }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

/// A trace's text never begins with zstd's first byte, an opening parenthesis.
bool may_be_packed(std::FILE* file) {
  constexpr int zstd_first_byte = 0x28;
  const int first = std::getc(file);
  std::ungetc(first, file);
  return first == zstd_first_byte;
}

/// What does not begin as zstd does is text that is malformed; the parser says so.
Result<std::string, TextError> unpacked(std::FILE* file, const std::string& name, const TextLimits& limits) {
  std::array<char, std::size_t{1} << 16> block{};
  std::string text;
  std::unique_ptr<ZstdUnpacker> unpacker;
  for (bool first = true; text.size() <= limits.file_bytes; first = false) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file);
    if (std::ferror(file) != 0) {
      return file_error(name, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    const std::string_view input(block.data(), count);
    if (first && begins_zstd(input)) {
      unpacker = std::make_unique<ZstdUnpacker>();
    }
    if (unpacker == nullptr) {
      text += input;
    } else if (const std::optional<std::string> damage = unpacker->unpack(input, text, limits.file_bytes + 1)) {
      return file_error(name, fmt::format("the zstd data is damaged ({})", *damage));
    }
    if (count < block.size()) {
      break;
    }
  }
  if (unpacker != nullptr && unpacker->inside_frame() && text.size() <= limits.file_bytes) {
    return file_error(name, "the file ends in the middle of a zstd frame");
  }
  return text;
}

}  // namespace

Result<Trace, TextError> read_trace_file(const std::string& path, const TextLimits& limits) {
  const bool from_stdin = path == "-";
  const std::string name = from_stdin ? "<stdin>" : path;
  const File file(from_stdin ? stdin : std::fopen(path.c_str(), "rb"));
  if (file != nullptr && may_be_packed(file.get())) {
    const Result<std::string, TextError> text = unpacked(file.get(), name, limits);
    return text ? parse_trace(*text, name, limits) : text.error();
  }
  std::error_code ignored;
  const bool reopens = file == nullptr || std::filesystem::is_regular_file(path, ignored) ||
                       std::filesystem::is_directory(path, ignored);
  return !from_stdin && reopens ? load_trace(path, limits) : read_trace(file.get(), name, limits);
}

}  // namespace poolproof
