#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/findings.hpp"
#include "cli/interrupt.hpp"
#include "cli/output_options.hpp"
#include "impl/registry.hpp"

namespace poolproof::cli {
namespace {

/// What the host twin may take, in seconds; the mutants are caught within milliseconds.
constexpr double host_time_s = 4;
constexpr double mutant_time_s = 2;
constexpr std::uint64_t demo_seed = 1;

struct DemoOptions {
  std::string out = "poolproof-out";
  OutputOptions output;
};

/// A real bug and the mutants that plant it.
struct DemoBug {
  std::string_view id;  ///< its mutants are named so, or ID-something
  std::string_view title;
};

constexpr std::array<DemoBug, 2> demo_bugs{{
    {"B15", "sgl-project/sglang#38571: with a per-request ring, frees give pages to a pool that lent none"},
    {"B20", "sgl-project/sglang#36135: a free group looks its pages up when it ends, not when free is called"},
}};

std::vector<const ImplInfo*> mutants_of(const DemoBug& bug) {
  std::vector<const ImplInfo*> mutants;
  for (const ImplInfo& impl : builtin_impls()) {
    const bool named_so = impl.name == bug.id || impl.name.starts_with(fmt::format("{}-", bug.id));
    if (impl.kind == ImplKind::mutant && named_so) {
      mutants.push_back(&impl);
    }
  }
  return mutants;
}

/// Runs one part of the demo; the canary's answer is the first part's to show.
std::vector<ImplRow> run_part(const DemoOptions& options, std::vector<const ImplInfo*> impls, double time_s,
                              std::string& canary_fault) {
  Progress progress(stderr_is_terminal(), time_s);
  CampaignOptions campaign;
  campaign.impls = std::move(impls);
  campaign.seed = demo_seed;
  campaign.traces = 0;
  campaign.stop = [&] { return interrupted() || progress.time_is_up(); };
  campaign.shrink.stop = interrupted;
  campaign.progress = [&](const CampaignProgress& now) { progress.update(now); };
  const CampaignReport report = run_campaign(campaign);
  if (!report.canary_caught) {
    canary_fault = report.canary_says;
  }
  return rows_of(report, progress, options.out);
}

void heading(Console& console, std::string_view text) { console.print(console.styled("1", text) + "\n\n"); }

void append(std::vector<ImplRow>& rows, const std::vector<ImplRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

/// Holds when host holds and every mutant is violated: that is what this command is asked.
int demo_status(const std::vector<ImplRow>& host, const std::vector<ImplRow>& mutants) {
  const int status = status_of(host, interrupted());
  if (status != exit_holds) {
    return status;
  }
  const bool caught = !mutants.empty() && std::all_of(mutants.begin(), mutants.end(), [](const ImplRow& row) {
    return row.standing == Standing::violated;
  });
  return caught ? exit_holds : exit_no_verdict;
}

void print_end(Console& console, const std::vector<ImplRow>& rows, int status) {
  heading(console, "3. Summary");
  print_table(console, rows);
  if (status != exit_holds) {
    Console::complain(interrupted() ? "the demo was interrupted"
                                    : "the demo did not go as it must: host has to hold and each mutant to be caught");
    return;
  }
  console.print(
      "\nThe reference twin holds, and every planted bug was caught, shrunk and explained. What to do next:\n"
      "  poolproof replay FILE --impl NAME       run one of the traces above again\n"
      "  poolproof check --impl mutants          catch every known bug\n"
      "  poolproof check --seed random --time 60 look for unknown ones in the twin\n"
      "  poolproof list impls                    see what can be checked\n"
      "  docs/adapter.md                         put your own allocator to the test\n");
}

int demo(const DemoOptions& options) {
  Result<OutputFiles, Complaint> files = OutputFiles::open(options.output);
  if (!files) {
    return refuse(files.error());
  }
  Console console = options.output.console();
  catch_interrupts();
  std::string canary_fault;
  console.print(fmt::format("seed {}\n\n", demo_seed));

  heading(console, fmt::format("1. The host twin of the engine's allocators, on every kind of pool, for {} seconds",
                               host_time_s));
  const std::vector<ImplRow> host = run_part(options, {find_impl("host")}, host_time_s, canary_fault);
  print_failures(console, host, true);
  print_table(console, host);

  heading(console, "\n2. Bugs that reached production, planted into the twin");
  std::vector<ImplRow> mutants;
  for (const DemoBug& bug : demo_bugs) {
    heading(console, bug.title);
    const std::vector<ImplRow> rows = run_part(options, mutants_of(bug), mutant_time_s, canary_fault);
    print_failures(console, rows, false);
    append(mutants, rows);
  }

  Summary summary;
  summary.command = "demo";
  summary.interrupted = interrupted();
  summary.rows = host;
  append(summary.rows, mutants);
  summary.status = canary_fault.empty() ? demo_status(host, mutants) : exit_no_verdict;
  print_end(console, summary.rows, summary.status);
  if (!canary_fault.empty()) {
    Console::complain("the canary was not caught: " + canary_fault);
  }
  return files->finish(summary, console);
}

}  // namespace

Command add_demo(CLI::App& program) {
  CLI::App* app = program.add_subcommand("demo", "See it work: the twin holds, and real bugs are caught and explained");
  auto options = std::make_shared<DemoOptions>();
  app->add_option("--out", options->out, "Folder for the shrunk traces")->type_name("DIR")->capture_default_str();
  add_output_options(*app, options->output);
  app->footer(
      "Exit status: 0 host holds and every planted bug is caught; 1 host is violated; 2 bad usage;\n"
      "3 a planted bug or the canary was not caught; 130 interrupted.");
  return {app, [options] { return demo(*options); }};
}

}  // namespace poolproof::cli
