#include "cli/own_program.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace poolproof::cli {

std::string own_program() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return !error && std::filesystem::exists(path, error) ? path.string() : std::string(::program_invocation_name);
}

}  // namespace poolproof::cli
