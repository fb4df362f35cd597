// Ctrl-C, politely: the first SIGINT or SIGTERM asks the run to come to an end with what it has; a second one kills.
#pragma once

namespace poolproof::cli {

/// From here on the first signal is remembered instead of ending the program.
void catch_interrupts();

bool interrupted();

/// Writing into a pipe whose reader went away becomes an error of that write instead of a signal.
void ignore_broken_pipes();

}  // namespace poolproof::cli
