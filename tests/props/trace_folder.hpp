// The traces of a folder as the parameters of a test suite.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace poolproof {

/// Paths of the traces in a folder of the source tree, sorted.
inline std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(POOLPROOF_SOURCE_DIR "/") + folder)) {
    if (entry.path().extension() == ".trace") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The file's stem, as a test's name may be.
inline std::string trace_test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace poolproof
