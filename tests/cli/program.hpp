// Runs the built program as a user's shell would and keeps what it said.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace poolproof {

/// What came of a run. `status` is 128 + signal when a signal ended it.
struct ProgramRun {
  int status = -1;
  std::string out;
  std::string err;
};

struct ProgramInput {
  std::string stdin_text;
  std::map<std::string, std::string> environment;  ///< added to a bare one
};

/// A folder of its own for each test, removed with it. Programs are started in it.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Runs `poolproof ARGS...` to its end.
  ProgramRun run(const std::vector<std::string>& args, const ProgramInput& input = {}) const;
  /// Runs a shell command; $POOLPROOF is the program.
  ProgramRun shell(const std::string& command) const;

  /// Starts `poolproof ARGS...` and answers its process id; `finish` waits for it.
  pid_t start(const std::vector<std::string>& args) const;
  ProgramRun finish(pid_t pid) const;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] bool exists(const std::string& name) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;
  /// Names in the folder, sorted, without those that keep the program's output.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  pid_t spawn(const std::vector<std::string>& argv, const ProgramInput& input) const;

  std::string folder_;
  std::string streams_;  ///< where stdin, stdout and stderr are kept
};

}  // namespace poolproof
