#include "tests/recording/import_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace poolproof {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "poolproof-log-XXXXXX").string()) {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void drop_all(std::string& text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

Imported import_texts(const std::vector<std::string>& texts, const ImportOptions& options) {
  const Folder folder;
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    paths.push_back(fmt::format("{}/log-{}.jsonl", folder.path(), paths.size()));
    std::ofstream(paths.back(), std::ios::binary) << text;
  }
  Imported imported;
  auto report = import_logs(paths, options, [&](std::string_view part) {
    imported.trace += part;
    return true;
  });
  if (report) {
    imported.report = std::move(report).value();
    EXPECT_EQ(imported.report.broken, "");
  } else {
    imported.fault = report.error().render();
  }
  drop_all(imported.trace, folder.path() + "/");
  drop_all(imported.fault, folder.path() + "/");
  return imported;
}

std::string findings_text(const Imported& imported) {
  constexpr std::array<std::string_view, finding_kinds> kinds{"violation", "caller_fault", "left_out", "note"};
  std::string text;
  for (const LogFinding& finding : imported.report.findings.kept()) {
    const std::string file = fs::path(finding.file).filename().string();
    text += fmt::format("{}{}{} {}:{} n={}", kinds.at(static_cast<std::size_t>(finding.kind)),
                        finding.id.empty() ? "" : " ", finding.id, file, finding.line, finding.n);
    text += finding.op == 0 ? "\n" : fmt::format(" op={}\n", finding.op);
  }
  return text;
}

}  // namespace poolproof
