// Golden files: what people read, kept under version control as they read it.
//
// A test compares a text with tests/golden/NAME. When the text was changed on purpose, run the test once with
// POOLPROOF_UPDATE_GOLDEN=1, look at the difference, and commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace poolproof {

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(POOLPROOF_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("POOLPROOF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    ADD_FAILURE() << path << " was written anew; run again without POOLPROOF_UPDATE_GOLDEN";
    return;
  }
  EXPECT_EQ(text, file_text(path)) << "differs from " << path;
}

}  // namespace poolproof
