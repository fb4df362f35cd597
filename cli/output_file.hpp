// Files that appear whole or not at all: written to a temporary name beside the target and renamed on commit. What is
// named *.zst is packed.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/complaint.hpp"
#include "model/result.hpp"
#include "recording/zstd_packer.hpp"

namespace poolproof::cli {

class OutputFile {
 public:
  /// Opens the temporary file now, so that a path that cannot be written is found before the work is done. "-" is
  /// stdout; what is no regular file (/dev/null, a pipe) is written in place.
  static Result<OutputFile, Complaint> open(const std::string& path);
  /// Without commit() nothing is left.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes a part, for files that are too long to be held.
  std::optional<Complaint> write(std::string_view part);
  /// Writes the rest, or all of it, and gives the file its name.
  std::optional<Complaint> commit(std::string_view content);

 private:
  OutputFile(std::string path, std::string temporary, std::FILE* file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}
  [[nodiscard]] Complaint cannot_write() const;
  /// False, and errno, when not all of it could be written.
  [[nodiscard]] bool put(std::string_view part, bool last);

  std::string path_;
  std::string temporary_;               ///< empty: written in place
  std::FILE* file_;                     ///< null: stdout, or done
  std::unique_ptr<ZstdPacker> packer_;  ///< null: it is written as it is
};

/// Opens the file into `file`; an empty path is none.
std::optional<Complaint> open_into(std::optional<OutputFile>& file, const std::string& path);

/// Makes the folder, its parents too.
std::optional<Complaint> make_folder(const std::string& folder);

/// `name` with all but letters, digits, '.', '_' and '-' replaced, so that it is one file name on any system.
std::string file_name_of(std::string_view name);

}  // namespace poolproof::cli
