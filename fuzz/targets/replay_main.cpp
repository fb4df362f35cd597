// Runs a target once on each file named, and on each file of a folder named, in the order of their names: for builds
// without a fuzzing engine, and to look at one input. `--print FILE` writes the input's trace there (ops targets).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/targets/engine.hpp"

namespace {

constexpr int exit_usage = 2;

bool run_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad()) {
    std::fprintf(stderr, "%s: cannot be read; name inputs or folders of them\n", path.c_str());
    return false;
  }
  // Named first: a target ends the process where it finds something.
  std::fprintf(stderr, "%s\n", path.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.size() >= 2 && paths.front() == "--print") {
    setenv("POOLPROOF_FUZZ_PRINT", paths[1].c_str(), 1);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: %s [--print FILE] INPUT|FOLDER...\n", argv[0]);
    return exit_usage;
  }
  std::size_t ran = 0;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path)) {
      if (!run_file(file)) {
        return exit_usage;
      }
      ++ran;
    }
  }
  std::fprintf(stderr, "%zu inputs, nothing found\n", ran);
  return 0;
}
