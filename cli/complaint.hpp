// Bad usage or bad input, as the one message that the user reads: what, where, and the remedy.
#pragma once

#include <string>

namespace poolproof::cli {

struct Complaint {
  std::string message;
};

}  // namespace poolproof::cli
