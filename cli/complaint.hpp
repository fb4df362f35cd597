// Why nothing is run, as the one message that the user reads: what, where, and the remedy.
#pragma once

#include <string>

#include "cli/exit_status.hpp"

namespace poolproof::cli {

struct Complaint {
  std::string message;
  int status = exit_usage;  ///< bad usage or bad input, unless it says otherwise
};

}  // namespace poolproof::cli
