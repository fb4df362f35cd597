#include "props/shrink.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/interrupt.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_file.hpp"
#include "cli/output_options.hpp"
#include "impl/ranks.hpp"
#include "props/lockstep.hpp"
#include "props/report.hpp"
#include "recording/trace_file.hpp"

namespace poolproof::cli {
namespace {

struct ShrinkCommand {
  std::string trace;
  std::string impl;
  std::string out;
  ImplOptions how;
  std::uint64_t max_evaluations = ShrinkOptions().max_evaluations;
};

/// Why there is nothing to shrink, and the status to exit with; nothing when the trace fails as it should.
struct Unfit {
  std::string message;
  int status = exit_usage;
};

std::optional<Unfit> unfit(const ShrinkCommand& command, const RunResult& run) {
  if (!run.build_error.empty()) {
    return Unfit{fmt::format("{} cannot be built for this pool: {}", command.impl, run.build_error), exit_no_verdict};
  }
  if (!run.verdict) {
    return Unfit{fmt::format("{} holds on {}, so there is nothing to shrink; name the --impl that it fails on",
                             command.trace, command.impl)};
  }
  const Verdict& verdict = *run.verdict;
  if (verdict.allocator_fault()) {
    return std::nullopt;
  }
  if (std::holds_alternative<ImplementationFailure>(verdict.cause)) {
    return Unfit{fmt::format("{} could not be run, op {}: {}", command.impl, verdict.op, verdict.what),
                 exit_no_verdict};
  }
  return Unfit{
      fmt::format("{}: {} is {}'s fault at op {}, and only an allocator's fault is shrunk; `poolproof replay` "
                  "explains it",
                  command.trace, cause_id(verdict.cause), cause_blame(verdict.cause), verdict.op)};
}

std::string comment_of(const ShrinkCommand& command, const ShrinkResult& result, std::size_t ops_before) {
  return fmt::format("{} on {}: {}\n{} of {} ops", cause_id(result.verdict.cause), command.impl, result.verdict.what,
                     result.trace.ops.size(), ops_before);
}

int write_result(const ShrinkCommand& command, std::uint32_t ranks, OutputFile& file, const ShrinkResult& result,
                 std::size_t ops_before) {
  if (const std::optional<Complaint> complaint =
          file.commit(print_trace(result.trace, comment_of(command, result, ops_before)))) {
    return refuse(*complaint);
  }
  const FailureView view{command.impl, &result.trace, &result.verdict, command.out == "-" ? "" : command.out, {},
                         false,        ranks};
  Console console(command.out == "-", ColorMode::never);
  console.print(fmt::format("{} to {} ops in {} runs{}: {} at op {}\n", ops_before, result.trace.ops.size(),
                            result.evaluations, result.minimal ? "" : " (cut short: fewer ops may do)",
                            cause_id(result.verdict.cause), result.verdict.op));
  if (!view.trace_file.empty()) {
    console.print(replay_line(view) + "\n");
  }
  return console.finish(interrupted() ? exit_interrupted : exit_holds);
}

int shrink_file(const ShrinkCommand& command) {
  const Result<PickedImpls, Complaint> picked = pick_impls({command.impl}, command.how);
  if (!picked) {
    return refuse(picked.error());
  }
  if (picked->impls.size() != 1) {
    return refuse({fmt::format("--impl {}: a trace is shrunk on one implementation; name it", command.impl)});
  }
  const ImplInfo impl = with_ranks(*picked->impls.front(), command.how.ranks);
  const Result<Trace, TextError> trace = read_trace_file(command.trace);
  if (!trace) {
    return refuse_text(trace.error());
  }
  Result<OutputFile, Complaint> file = OutputFile::open(command.out);
  if (!file) {
    return refuse(file.error());
  }
  catch_interrupts();
  const RunResult run = run_and_pin(*trace, impl);
  if (const std::optional<Unfit> reason = unfit(command, run)) {
    Console::complain(reason->message);
    return reason->status;
  }
  Trace failing = *trace;
  failing.ops.resize(std::min<std::size_t>(failing.ops.size(), run.verdict->op));
  const std::optional<ShrinkResult> result =
      shrink(failing, impl, run.verdict->cause, {command.max_evaluations, interrupted});
  if (!result) {
    Console::complain(
        fmt::format("{} failed with {} and did not fail again, so it cannot be shrunk: {} is not "
                    "deterministic",
                    command.trace, cause_id(run.verdict->cause), command.impl));
    return exit_no_verdict;
  }
  return write_result(command, impl.ranks, *file, *result, trace->ops.size());
}

}  // namespace

Command add_shrink(CLI::App& program) {
  CLI::App* app = program.add_subcommand("shrink", "Reduce a failing trace to the few ops that matter");
  auto command = std::make_shared<ShrinkCommand>();
  app->add_option("TRACE", command->trace, "Trace file that fails; - is stdin")->required()->type_name("");
  app->add_option("--impl", command->impl, "Implementation that it fails on: a name, or exec:'COMMAND'")
      ->required()
      ->type_name("NAME");
  app->add_option("-o,--out", command->out, "File for the shrunk trace; - is stdout, and messages go to stderr")
      ->required()
      ->type_name("OUT");
  app->add_option("--max-runs", command->max_evaluations, "Runs of the implementation at most")
      ->type_name("N")
      ->check(whole_number(1, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  add_impl_options(*app, command->how);
  app->footer(
      "The shrunk trace breaks the same invariant. OUT is written whole or not at all.\n\n"
      "Exit status: 0 OUT is written; 2 bad usage, a malformed trace, or one that no allocator's fault makes fail;\n"
      "3 the implementation could not be run; 130 interrupted, and OUT is the best so far.\n\n"
      "Example:\n"
      "  poolproof shrink long.trace --impl B20 -o short.trace");
  return {app, [command] { return shrink_file(*command); }};
}

}  // namespace poolproof::cli
