#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/findings.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_options.hpp"
#include "impl/ranks.hpp"
#include "props/lockstep.hpp"
#include "recording/trace_file.hpp"

namespace poolproof::cli {
namespace {

struct ReplayOptions {
  std::string trace;
  std::vector<std::string> impls{"host"};
  std::uint32_t census_every = 1;
  ImplOptions how;
  OutputOptions output;
};

/// With rare censuses a finding is pinned to its op by a second run.
RunResult run_pinned(const Trace& trace, const ImplInfo& impl, std::uint32_t census_every) {
  RunResult run = run_trace(trace, impl, {.census_every = census_every});
  if (run.verdict && census_every != 1) {
    RunResult pinned = run_trace(trace, impl, {.census_every = 1});
    return pinned.verdict ? pinned : run;
  }
  return run;
}

ImplRow replay_on(const ImplInfo& impl, const Trace& trace, const ReplayOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  RunResult run = run_pinned(trace, impl, options.census_every);
  ImplRow row;
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  row.impl = impl.name;
  row.ranks = impl.ranks;
  row.traces = 1;
  row.ops = run.ops;
  if (!run.build_error.empty()) {
    row.standing = Standing::could_not_run;
    row.error = fmt::format("it cannot be built for this pool: {}", run.build_error);
  } else if (run.verdict) {
    const bool failed = std::holds_alternative<ImplementationFailure>(run.verdict->cause);
    row.standing = failed ? Standing::could_not_run : Standing::violated;
    row.error = failed ? fmt::format("op {}: {}", run.verdict->op, run.verdict->what) : std::string();
    FailureRecord record;
    record.impl = impl.name;
    record.ranks = impl.ranks;
    record.verdict = *std::move(run.verdict);
    record.trace = trace;
    record.trace_file = options.trace == "-" ? "" : options.trace;
    row.failure = std::move(record);
  }
  return row;
}

int replay(const ReplayOptions& options) {
  const Result<Trace, TextError> trace = read_trace_file(options.trace);
  if (!trace) {
    return refuse_text(trace.error());
  }
  const Result<PickedImpls, Complaint> picked = pick_impls(options.impls, options.how);
  if (!picked) {
    return refuse(picked.error());
  }
  Result<OutputFiles, Complaint> files = OutputFiles::open(options.output);
  if (!files) {
    return refuse(files.error());
  }
  Console console = options.output.console();
  Summary summary;
  summary.command = "replay";
  summary.trace_file = options.trace;
  for (const ImplInfo* impl : picked->impls) {
    summary.rows.push_back(replay_on(with_ranks(*impl, options.how.ranks), *trace, options));
    const ImplRow& row = summary.rows.back();
    if (row.standing == Standing::holds) {
      const std::string ranks = row.ranks > 1 ? fmt::format(", {} ranks", row.ranks) : std::string();
      console.print(fmt::format("{}: {} op{} on {}{}\n", console.styled("32", "holds"), row.ops,
                                row.ops == 1 ? "" : "s", row.impl, ranks));
    }
    print_failures(console, {row}, true);
  }
  summary.status = status_of(summary.rows, false);
  return files->finish(summary, console);
}

}  // namespace

Command add_replay(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("replay", "Run one trace, with a census after each op, and explain what breaks");
  auto options = std::make_shared<ReplayOptions>();
  app->add_option("TRACE", options->trace, "Trace file; - is stdin")->required()->type_name("");
  app->add_option(
         "--impl", options->impls,
         "Implementation to run it on: a name, `mutants`, `all`, or exec:'COMMAND', as for check. May be given "
         "many times")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option("--census-every", options->census_every,
                  "Ops between whole-pool censuses; more is faster on long traces. 0: at the end alone")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  add_impl_options(*app, options->how);
  add_output_options(*app, options->output);
  app->footer(
      "Exit status: 0 holds; 1 an invariant is violated, or the trace itself breaks a protocol rule (the caller's "
      "fault)\n"
      "or an `expect` line; 2 bad usage or a malformed trace; 3 the implementation could not be run.\n\n"
      "Example:\n"
      "  poolproof replay poolproof-out/B15-group-end-RING_POOL_IDLE.trace --impl B15-group-end");
  return {app, [options] { return replay(*options); }};
}

}  // namespace poolproof::cli
