// tests/malformed/: traces that are wrong in their own way each. Every one is an error with a place and a message, and
// tests/malformed/EXPECTED keeps what a person reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "model/trace_text.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

const std::filesystem::path folder = std::filesystem::path(POOLPROOF_SOURCE_DIR) / "tests" / "malformed";

std::vector<std::string> malformed_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".trace") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Malformed, EachTraceIsAnErrorWithItsPlaceAndMessage) {
  const std::vector<std::string> names = malformed_names();
  EXPECT_GE(names.size(), 200U);
  std::set<std::string> messages;
  std::string listing;
  for (const std::string& name : names) {
    const Result<Trace, TextError> trace = load_trace((folder / (name + ".trace")).string());
    ASSERT_FALSE(trace.ok()) << name;
    const TextError& error = trace.error();
    EXPECT_GT(error.line, 0U) << name;
    EXPECT_GT(error.column, 0U) << name;
    EXPECT_FALSE(error.message.empty()) << name;
    messages.insert(error.message);
    listing += name + ": " + std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message;
    listing += error.expected.empty() ? "\n" : "; expected " + error.expected + "\n";
  }
  EXPECT_GE(messages.size(), 150U);
  expect_golden("../malformed/EXPECTED", listing);
}

}  // namespace
}  // namespace poolproof
