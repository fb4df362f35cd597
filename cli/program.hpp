#pragma once

namespace poolproof::cli {

/// The whole program; answers its exit status.
int run_program(int argc, char** argv);

}  // namespace poolproof::cli
