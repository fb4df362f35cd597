// The subcommands. Each adds itself to the command line and hands back what runs it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace poolproof::cli {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  ///< answers the exit status; called once the command line is parsed
};

Command add_check(CLI::App& program);
Command add_replay(CLI::App& program);
Command add_shrink(CLI::App& program);
Command add_simulate(CLI::App& program);
Command add_list(CLI::App& program);
Command add_demo(CLI::App& program);
Command add_import(CLI::App& program);
Command add_explain(CLI::App& program);
Command add_saver(CLI::App& program);
Command add_explore(CLI::App& program);
Command add_zoo(CLI::App& program);
Command add_worker(CLI::App& program);

}  // namespace poolproof::cli
