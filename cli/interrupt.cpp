#include "cli/interrupt.hpp"

#include <csignal>

namespace poolproof::cli {
namespace {

// A signal handler reaches nothing but a static flag; it is the program's one piece of global state.
volatile std::sig_atomic_t flag = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void remember(int /*signal*/) { flag = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  // Writes that a signal cuts short go on; the handler is taken off again, so that a second signal ends a run that
  // hangs.
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return flag != 0; }

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace poolproof::cli
