#include "cli/program.hpp"

int main(int argc, char** argv) { return poolproof::cli::run_program(argc, argv); }
