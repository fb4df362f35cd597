#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

namespace fs = std::filesystem;

std::string new_folder() {
  std::string name = (fs::temp_directory_path() / "poolproof-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    ADD_FAILURE() << "cannot make " << name;
  }
  return name;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) {
    result.push_back(string.data());
  }
  result.push_back(nullptr);
  return result;
}

}  // namespace

Sandbox::Sandbox() : folder_(new_folder()), streams_(new_folder()) {}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove_all(streams_, ignored);
}

pid_t Sandbox::spawn(const std::vector<std::string>& argv, const ProgramInput& input) const {
  const auto stream = [&](const char* name) { return streams_ + "/" + name; };
  std::ofstream(stream("in"), std::ios::binary) << input.stdin_text;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, stream("in").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, stream("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, stream("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "POOLPROOF=" POOLPROOF_BINARY};
  for (const auto& [key, value] : input.environment) {
    environment.push_back(key + "=" + value);
  }
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(failed, 0) << "cannot start " << arguments[0];
  return pid;
}

ProgramRun Sandbox::finish(pid_t pid) const {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  ProgramRun run;
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = file_text(streams_ + "/out");
  run.err = file_text(streams_ + "/err");
  return run;
}

pid_t Sandbox::start(const std::vector<std::string>& args) const {
  std::vector<std::string> argv{POOLPROOF_BINARY};
  argv.insert(argv.end(), args.begin(), args.end());
  return spawn(argv, {});
}

ProgramRun Sandbox::run(const std::vector<std::string>& args, const ProgramInput& input) const {
  std::vector<std::string> argv{POOLPROOF_BINARY};
  argv.insert(argv.end(), args.begin(), args.end());
  return finish(spawn(argv, input));
}

ProgramRun Sandbox::shell(const std::string& command) const { return finish(spawn({"/bin/sh", "-c", command}, {})); }

bool Sandbox::exists(const std::string& name) const { return fs::exists(path(name)); }

std::string Sandbox::read(const std::string& name) const { return file_text(path(name)); }

void Sandbox::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::vector<std::string> Sandbox::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace poolproof
