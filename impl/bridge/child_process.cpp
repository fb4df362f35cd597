#include "impl/bridge/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace poolproof {
namespace {

constexpr std::size_t stderr_kept_bytes = 4096;
constexpr std::size_t read_bytes = 65536;
/// How long a child that closed its pipes may take to end by itself, so that its exit status can be told.
constexpr int grace_ms = 250;

struct Pipe {
  int read = -1;
  int write = -1;
};

bool open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  pipe = {ends[0], ends[1]};
  return true;
}

void close_end(int& end) {
  if (end >= 0) {
    ::close(end);
    end = -1;
  }
}

void close_pipe(Pipe& pipe) {
  close_end(pipe.read);
  close_end(pipe.write);
}

void make_nonblocking(int end) { ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK); }

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* command, int input, int output, int errors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive poolproof
  if (::getppid() != parent) {
    ::_exit(127);
  }
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

/// A write to a child that is gone must be an error, not a signal that ends us.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    if (!was_pending_) {
      const timespec at_once{0, 0};
      while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked(PipeSignalBlocked&&) = delete;
  PipeSignalBlocked& operator=(PipeSignalBlocked&&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// A single command takes the shell's place, so that its end is told as it was. One that does so itself is left alone.
std::string shell_text(const std::string& command) {
  const bool single = command.find_first_of(";&|<>()`$\n") == std::string::npos && !command.starts_with("exec ");
  return single ? "exec " + command : command;
}

bool again(int error) { return error == EAGAIN || error == EINTR; }

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace

ChildProcess::~ChildProcess() { stop(); }

Result<std::monostate, std::string> ChildProcess::start(const std::string& command) {
  stop();
  Pipe input;
  Pipe output;
  Pipe errors;
  const pid_t parent = ::getpid();
  const std::string text = shell_text(command);
  if (!open_pipe(input) || !open_pipe(output) || !open_pipe(errors) || (pid_ = ::fork()) < 0) {
    const int error = errno;
    close_pipe(input);
    close_pipe(output);
    close_pipe(errors);
    return fmt::format("the system starts no process: {}", std::strerror(error));
  }
  if (pid_ == 0) {
    become(text.c_str(), input.read, output.write, errors.write, parent);
  }
  ::setpgid(pid_, pid_);  // both sides do it, whichever runs first
  close_end(input.read);
  close_end(output.write);
  close_end(errors.write);
  to_child_ = input.write;
  from_child_ = output.read;
  errors_ = errors.read;
  for (const int end : {to_child_, from_child_, errors_}) {
    make_nonblocking(end);
  }
  input_.clear();
  stderr_tail_.clear();
  return std::monostate{};
}

Result<std::string, ChildFailure> ChildProcess::ask(std::string_view request, std::chrono::milliseconds limit) {
  const std::string line = fmt::format("{}\n", request);
  std::string_view unsent = line;
  const Clock::time_point deadline = Clock::now() + limit;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = input_.find('\n', searched);
    if (end != std::string::npos && !unsent.empty()) {
      return fail(BreakdownKind::garbled, "it answered before the request was read");
    }
    if (end != std::string::npos) {
      std::string answer = input_.substr(0, end);
      input_.erase(0, end + 1);
      return answer;
    }
    searched = input_.size();
    if (searched > max_line_bytes) {
      return fail(BreakdownKind::garbled, fmt::format("its answer is longer than {} MiB", max_line_bytes >> 20U));
    }
    switch (pump(unsent, deadline)) {
      case Event::ready:
        break;
      case Event::late:
        return fail(BreakdownKind::hung,
                    fmt::format("no answer within {:g} s", std::chrono::duration<double>(limit).count()));
      case Event::ended:
        return ended();
    }
  }
}

/// Waits until something can be written or read, and does it.
ChildProcess::Event ChildProcess::pump(std::string_view& unsent, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) {
    return Event::late;
  }
  std::array<pollfd, 3> ends{pollfd{from_child_, POLLIN, 0}, pollfd{errors_, POLLIN, 0},
                             pollfd{unsent.empty() ? -1 : to_child_, POLLOUT, 0}};
  const int ready = ::poll(ends.data(), ends.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
  if (ready < 0) {
    return again(errno) ? Event::ready : Event::ended;
  }
  if (ends[1].revents != 0) {
    drain_stderr();
  }
  if (ends[0].revents != 0 && !receive_some()) {
    return Event::ended;
  }
  if (ends[2].revents != 0 && !send_some(unsent)) {
    return Event::ended;
  }
  return Event::ready;
}

bool ChildProcess::send_some(std::string_view& unsent) {
  const PipeSignalBlocked blocked;
  const ssize_t sent = ::write(to_child_, unsent.data(), unsent.size());
  if (sent < 0) {
    return again(errno);
  }
  unsent.remove_prefix(static_cast<std::size_t>(sent));
  return true;
}

bool ChildProcess::receive_some() {
  std::array<char, read_bytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
  const ssize_t got = ::read(from_child_, buffer.data(), buffer.size());
  if (got < 0) {
    return again(errno);
  }
  input_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

void ChildProcess::drain_stderr() {
  std::array<char, stderr_kept_bytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
  while (errors_ >= 0) {
    const ssize_t got = ::read(errors_, buffer.data(), buffer.size());
    if (got <= 0) {
      if (got == 0 || !again(errno)) {
        close_end(errors_);
      }
      return;
    }
    stderr_tail_.append(buffer.data(), static_cast<std::size_t>(got));
    if (stderr_tail_.size() > stderr_kept_bytes) {
      stderr_tail_.erase(0, stderr_tail_.size() - stderr_kept_bytes);
    }
  }
}

/// Its pipes are closed: how did it end?
ChildFailure ChildProcess::ended() {
  const bool half_line = !input_.empty();
  const int status = reap(false);
  drain_stderr();
  std::string how = "closed its pipes and went on running";
  if (WIFSIGNALED(status)) {
    how = fmt::format("killed by {}", signal_name(WTERMSIG(status)));
  } else if (WIFEXITED(status)) {
    how = fmt::format("ended with exit status {}", WEXITSTATUS(status));
  }
  ChildFailure failure =
      fail(BreakdownKind::died, fmt::format("{}{}", how, half_line ? ", in the middle of a line" : ""));
  failure.breakdown.signature = how;
  return failure;
}

ChildFailure ChildProcess::fail(BreakdownKind kind, const std::string& what) {
  drain_stderr();
  std::string tail = stderr_tail_;
  stop(true);
  while (!tail.empty() && tail.back() == '\n') {
    tail.pop_back();
  }
  const std::size_t last_line = tail.rfind('\n');
  const std::string said = last_line == std::string::npos ? tail : tail.substr(last_line + 1);
  return ChildFailure::of(kind, said.empty() ? what : fmt::format("{}; its stderr ends with: {}", what, said));
}

/// Waits for it, killed first or once the grace is over; the wait status, or -1 when it had to be killed.
int ChildProcess::reap(bool kill_first) {
  if (pid_ <= 0) {
    return -1;
  }
  int status = -1;
  bool own_end = false;
  for (int waited_ms = 0; !kill_first && waited_ms < grace_ms && !own_end; waited_ms += 5) {
    own_end = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (!own_end) {
      ::poll(nullptr, 0, 5);
    }
  }
  ::kill(-pid_, SIGKILL);
  if (!own_end) {
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status = -1;
  }
  pid_ = -1;
  return status;
}

void ChildProcess::stop() { stop(false); }

void ChildProcess::stop(bool kill_first) {
  close_end(to_child_);  // the end of its stdin asks it to go
  reap(kill_first);
  close_end(from_child_);
  close_end(errors_);
}

}  // namespace poolproof
