#include "cli/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace poolproof::cli {
namespace {

namespace fs = std::filesystem;

Complaint cannot(std::string_view verb, const std::string& path, std::string_view reason) {
  return {fmt::format("cannot {} {}: {}", verb, path, reason)};
}

/// A link is followed, so that the rename replaces what it points to and not the link.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? fs::path(path) : target;
}

}  // namespace

Result<OutputFile, Complaint> OutputFile::open(const std::string& path) {
  if (path == "-") {
    return OutputFile(path, {}, nullptr);
  }
  std::error_code ignored;
  const fs::path target = resolved(path);
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) {
    return cannot("write", path, "it is a folder; name a file in it");
  }
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  std::string temporary = in_place ? std::string() : fmt::format("{}.{}.tmp", target.string(), getpid());
  std::FILE* file = std::fopen(in_place ? target.c_str() : temporary.c_str(), in_place ? "w" : "wx");
  if (file == nullptr) {
    return cannot("write", path, std::strerror(errno));
  }
  OutputFile opened(target.string(), std::move(temporary), file);
  if (path.ends_with(".zst")) {
    opened.packer_ = std::make_unique<ZstdPacker>();
  }
  return opened;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::exchange(other.file_, nullptr)),
      packer_(std::move(other.packer_)) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
  }
}

Complaint OutputFile::cannot_write() const { return cannot("write", path_, std::strerror(errno)); }

bool OutputFile::put(std::string_view part, bool last) {
  std::string packed;
  if (packer_ != nullptr) {
    packer_->pack(part, packed);
    if (last) {
      packer_->finish(packed);
    }
    part = packed;
  }
  std::FILE* file = path_ == "-" ? stdout : file_;
  // An empty part may have no address at all.
  return part.empty() || std::fwrite(part.data(), 1, part.size(), file) == part.size();
}

std::optional<Complaint> OutputFile::write(std::string_view part) {
  return put(part, false) ? std::nullopt : std::optional(cannot_write());
}

std::optional<Complaint> OutputFile::commit(std::string_view content) {
  if (!put(content, true) || std::fflush(path_ == "-" ? stdout : file_) != 0) {
    return errno == EPIPE ? std::nullopt : std::optional(cannot_write());
  }
  if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) {
    return cannot_write();
  }
  if (!temporary_.empty()) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return cannot_write();
    }
    temporary_.clear();
  }
  return std::nullopt;
}

std::optional<Complaint> open_into(std::optional<OutputFile>& file, const std::string& path) {
  if (path.empty()) {
    return std::nullopt;
  }
  Result<OutputFile, Complaint> opened = OutputFile::open(path);
  if (!opened) {
    return opened.error();
  }
  file.emplace(std::move(opened).value());
  return std::nullopt;
}

std::optional<Complaint> make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return cannot("make the folder", folder, error.message());
  }
  return std::nullopt;
}

std::string file_name_of(std::string_view name) {
  std::string clean(name);
  for (char& c : clean) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("._-").find(c) == std::string_view::npos) {
      c = '_';
    }
  }
  return clean;
}

}  // namespace poolproof::cli
