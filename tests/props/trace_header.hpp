// The lines `# key: value` by which a trace says what it must do: `# mutant: B20`, `# expect: GROUP_OWNERSHIP`.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace poolproof {

/// A file's text; empty when it cannot be read.
inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The value of the trace's line "# key: value", or empty.
inline std::string trace_header(const std::string& trace, const std::string& key) {
  const std::string start = "# " + key + ": ";
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      return line.substr(start.size());
    }
  }
  return {};
}

}  // namespace poolproof
