#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/findings.hpp"
#include "cli/interrupt.hpp"
#include "cli/names.hpp"
#include "cli/progress.hpp"
#include "cli/simulate_options.hpp"
#include "cli/simulation_json.hpp"
#include "impl/ranks.hpp"
#include "props/shrink.hpp"
#include "recording/trace_writer.hpp"

namespace poolproof::cli {
namespace {

/// The files that may be asked for, opened before the work begins.
struct SimulationFiles {
  std::optional<OutputFile> trace;
  std::optional<OutputFile> html;
};

/// Two outputs on stdout would be read as one.
std::optional<Complaint> check_names(const SimulateOptions& options) {
  const std::vector<std::string> names{options.trace_out, options.html, options.output.json, options.output.junit};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      if (!names[i].empty() && names[i] == names[j]) {
        return Complaint{fmt::format("two outputs are named {}; give each a name of its own", names[i])};
      }
    }
    if (!names[i].empty() && names[i] == options.workload && names[i] != "-") {
      return Complaint{fmt::format("{} is the workload; give the output another name", names[i])};
    }
  }
  return std::nullopt;
}

/// The one implementation; sets of them make no sense here.
Result<ImplInfo, Complaint> one_impl(const PickedImpls& picked, const SimulateOptions& options) {
  if (picked.impls.size() != 1) {
    return Complaint{fmt::format("--impl {}: a workload is run on one implementation; name it", options.impl)};
  }
  const ImplInfo& impl = *picked.impls.front();
  if (impl.missing) {
    if (const std::optional<std::string> missing = impl.missing()) {
      return Complaint{fmt::format("{} could not be run: {}", impl.name, *missing), exit_no_verdict};
    }
  }
  return with_ranks(impl, options.how.ranks);
}

/// Runs it, writing the trace as it goes.
SimulationResult run(const SimulateOptions& options, const ServingOptions& serving, const ImplInfo& impl,
                     const OpenWorkload& workload, std::optional<OutputFile>& trace_file,
                     std::optional<Complaint>& unwritten, Progress& progress) {
  TraceWriter writer([&](std::string_view text) {
    unwritten = trace_file->write(text);
    return !unwritten;
  });
  SimulationOptions simulation;
  simulation.serving = serving;
  simulation.census_every = options.census_every;
  simulation.stop = [&] { return interrupted() || progress.time_is_up() || writer.failed(); };
  simulation.progress = [&](const SimulationProgress& now) {
    progress.update(
        {impl.name, now.ops == 0 ? 0 : std::max<std::uint64_t>(1, now.counts.served), options.requests, now.ops});
  };
  if (trace_file) {
    writer.begin(serving.geometry, {fmt::format("{}, seed {}", options.workload, serving.seed)});
    simulation.record = [&](const Op& op) { writer.op(op); };
  }
  SimulationResult result = simulate(simulation, impl, workload.requests);
  if (trace_file) {
    writer.end();
  }
  return result;
}

std::string comment_of(const FailureRecord& record, const SimulateOptions& options, std::uint64_t seed) {
  return fmt::format("{} on {}: {}\n{}, seed {}, {} of {} ops", cause_id(record.verdict.cause), record.impl,
                     record.verdict.what, options.workload, seed, record.trace.ops.size(), record.original_ops);
}

/// The verdict with its trace: made again up to the failing op, pinned to what broke first, and shrunk.
FailureRecord failure_of(const SimulateOptions& options, const ServingOptions& serving, const ImplInfo& impl,
                         const WorkloadSpec& spec, const SimulationResult& result) {
  FailureRecord record;
  record.impl = impl.name;
  record.ranks = impl.ranks;
  record.verdict = *result.verdict;
  record.trace.geometry = serving.geometry;
  const Result<OpenWorkload, Complaint> again = reopens(spec) ? open_workload(spec) : Complaint{};
  if (!again) {
    Console::complain(
        "the workload cannot be read again, so its trace is not shrunk; --trace-out keeps it, `poolproof shrink` "
        "shrinks it");
    return record;
  }
  record.trace = simulated_trace(serving, again->requests, result.ops);
  record.original_ops = record.trace.ops.size();
  RunResult pinned = run_and_pin(record.trace, impl);
  record.reproduced = pinned.verdict.has_value();
  if (!pinned.verdict) {
    return record;
  }
  record.verdict = *std::move(pinned.verdict);
  record.trace.ops.resize(std::min<std::size_t>(record.trace.ops.size(), record.verdict.op));
  if (!record.verdict.allocator_fault() || options.no_shrink) {
    return record;
  }
  ShrinkOptions how;
  how.stop = interrupted;
  if (std::optional<ShrinkResult> shrunk = shrink(record.trace, impl, record.verdict.cause, how)) {
    record.trace = std::move(shrunk->trace);
    record.verdict = std::move(shrunk->verdict);
    record.evaluations = shrunk->evaluations;
    record.minimal = shrunk->minimal;
  }
  return record;
}

ImplRow row_of(const SimulateOptions& options, const ServingOptions& serving, const ImplInfo& impl,
               const WorkloadSpec& spec, const SimulationSummary& summary) {
  const SimulationResult& result = summary.result;
  ImplRow row;
  row.impl = impl.name;
  row.ranks = impl.ranks;
  row.traces = 1;
  row.ops = result.ops;
  row.seconds = summary.seconds;
  if (!result.build_error.empty()) {
    row.standing = Standing::could_not_run;
    row.error = fmt::format("it cannot be built for this pool: {}", result.build_error);
  } else if (result.verdict && std::holds_alternative<ImplementationFailure>(result.verdict->cause)) {
    row.standing = Standing::could_not_run;
    row.error = fmt::format("op {}: {}", result.verdict->op, result.verdict->what);
  } else if (result.verdict) {
    row.standing = Standing::violated;
    row.failure = failure_of(options, serving, impl, spec, result);
    if (!row.failure->trace.ops.empty()) {
      write_failing_trace(*row.failure, options.out, comment_of(*row.failure, options, serving.seed));
    }
  }
  return row;
}

void print_start(Console& console, const SimulateOptions& options, const ServingOptions& serving) {
  console.print(
      fmt::format("seed {}\nworkload {}\npool {}\n\n", serving.seed, options.workload, to_string(serving.geometry)));
}

void print_figures(Console& console, const SimulationSummary& summary) {
  for (const SimulationFigure& figure : simulation_figures(summary)) {
    console.print(fmt::format("{:<18}{}\n", figure.label, figure.text));
  }
}

int report(const SimulateOptions& options, const ServingOptions& serving, const ImplInfo& impl,
           const WorkloadSpec& spec, std::shared_ptr<const SimulationSummary> simulation, SimulationFiles& files,
           OutputFiles& outputs, Console& console) {
  Summary summary;
  summary.command = "simulate";
  summary.simulation = simulation;
  summary.interrupted = interrupted();
  summary.rows.push_back(row_of(options, serving, impl, spec, *simulation));
  summary.status = status_of(summary.rows, summary.interrupted);
  if (simulation->result.build_error.empty()) {
    print_figures(console, *simulation);
    console.print("\n");
  }
  print_failures(console, summary.rows, true);
  if (summary.rows.front().standing == Standing::holds) {
    console.print(fmt::format("{} on {}{}\n", console.styled("32", "holds"), impl.name,
                              simulation->result.stopped ? ", as far as it came: it was stopped" : ""));
  }
  const bool trace_written = write_asked(files.trace, {});
  const bool page_written = write_asked(files.html, files.html ? simulation_page(*simulation) : std::string());
  const int status = outputs.finish(summary, console);
  return !(trace_written && page_written) && status == exit_holds ? exit_usage : status;
}

int simulate_workload(const SimulateOptions& options) {
  if (const std::optional<Complaint> complaint = check_names(options)) {
    return refuse(*complaint);
  }
  const Result<ServingOptions, Complaint> serving = serving_of(options);
  if (!serving) {
    return refuse(serving.error());
  }
  const Result<PickedImpls, Complaint> picked = pick_impls({options.impl}, options.how);
  if (!picked) {
    return refuse(picked.error());
  }
  const Result<ImplInfo, Complaint> impl = one_impl(*picked, options);
  if (!impl) {
    return refuse(impl.error());
  }
  const WorkloadSpec spec{options.workload, options.lenient, serving->seed};
  const Result<OpenWorkload, Complaint> workload = open_workload(spec);
  if (!workload) {
    return refuse(workload.error());
  }
  Result<OutputFiles, Complaint> outputs = OutputFiles::open(options.output);
  if (!outputs) {
    return refuse(outputs.error());
  }
  SimulationFiles files;
  if (auto complaint = open_into(files.trace, options.trace_out); complaint) {
    return refuse(*complaint);
  }
  if (auto complaint = open_into(files.html, options.html); complaint) {
    return refuse(*complaint);
  }
  const bool stdout_taken = options.trace_out == "-" || options.html == "-";
  Console console = stdout_taken ? Console(true, color_mode(options.output.color)) : options.output.console();
  Progress progress(options.progress == "auto" && stderr_is_terminal(), options.time_s, "requests");
  catch_interrupts();
  print_start(console, options, *serving);

  std::optional<Complaint> unwritten;
  const auto begun = std::chrono::steady_clock::now();
  SimulationResult result = run(options, *serving, *impl, *workload, files.trace, unwritten, progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  progress.wipe();
  if (unwritten) {
    return refuse(*unwritten);
  }
  if (result.input_error) {
    return refuse_text(*result.input_error);
  }
  auto summary = std::make_shared<const SimulationSummary>(
      SimulationSummary{options.workload, std::string(workload->format()), workload->skipped(), impl->name, *serving,
                        std::move(result), seconds});
  return report(options, *serving, *impl, spec, std::move(summary), files, *outputs, console);
}

}  // namespace

Command add_simulate(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("simulate", "Run a serving engine's workload through the pools and show what they did");
  auto options = std::make_shared<SimulateOptions>();
  add_simulate_options(*app, *options);
  app->footer(
      "Exit status: 0 holds; 1 violated, or the engine asked for breaks a protocol rule; 2 bad usage or a malformed\n"
      "workload; 3 the implementation could not be run; 130 interrupted.\n\n"
      "Examples:\n"
      "  poolproof simulate AzureLLMInferenceTrace_conv.csv --html pools.html\n"
      "  poolproof simulate synthetic:requests=5000,shared=50 --model gpt-oss-120b --impl cuda-host\n"
      "  poolproof simulate conversation_trace.jsonl --geometry layout=token,full=1000000 --trace-out made.trace.zst");
  return {app, [options] { return simulate_workload(*options); }};
}

}  // namespace poolproof::cli
