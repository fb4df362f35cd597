// A child process that is spoken to in lines: started, asked with a time limit, killed, its end told.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "model/breakdown.hpp"
#include "model/result.hpp"

namespace poolproof {

/// Why there is no answer: what to report, and the sentence for people, with the end of the child's stderr.
struct ChildFailure {
  Breakdown breakdown;
  std::string text;
};

class ChildProcess {
 public:
  /// Longest answer that is taken in.
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 20U;

  ChildProcess() = default;
  /// Kills it, and what it started in its process group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// Runs `command` by /bin/sh -c, in a process group of its own, so that an interrupt at the terminal is ours alone.
  /// Answers an error sentence when the system cannot start a process.
  Result<std::monostate, std::string> start(const std::string& command);
  [[nodiscard]] bool running() const { return pid_ > 0; }

  /// Writes one line (`request` has no newline) and reads one, without its newline. After a failure it is stopped.
  Result<std::string, ChildFailure> ask(std::string_view request, std::chrono::milliseconds limit);

  /// Asks it to go by closing its stdin; kills it when it does not.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Event : unsigned char { ready, late, ended };

  ChildFailure fail(BreakdownKind kind, const std::string& what);
  ChildFailure ended();
  Event pump(std::string_view& unsent, Clock::time_point deadline);
  bool send_some(std::string_view& unsent);
  bool receive_some();
  void drain_stderr();
  int reap(bool kill_first);
  void stop(bool kill_first);

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  int errors_ = -1;
  std::string input_;        ///< read and not yet handed over
  std::string stderr_tail_;  ///< the newest of what it wrote there
};

}  // namespace poolproof
