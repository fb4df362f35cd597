#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "cli/capabilities_table.hpp"
#include "cli/check_report.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_options.hpp"
#include "cli/shard.hpp"

namespace poolproof::cli {
namespace {

constexpr std::uint64_t default_traces = 2000;
constexpr std::uint64_t most_traces = std::uint64_t{1} << 62U;

struct CheckOptions {
  std::vector<std::string> impls{"host"};
  std::vector<std::string> geometries;
  std::optional<std::uint64_t> traces;
  std::uint32_t ops = 120;
  std::string seed;
  std::uint32_t census_every = 64;
  std::string shard;
  bool guided = false;
  std::string progress = "auto";
  ImplOptions how;
  CheckReportOptions report;
  OutputOptions output;
};

void add_what(CLI::App& app, CheckOptions& options) {
  app.add_option(
         "--impl", options.impls,
         "Implementation to check: a name (`poolproof list impls`); `mutants` is all mutants, `all` those and "
         "every real one; exec:'COMMAND ARGS' starts one of your own (docs/external.md). May be given many times")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--geometry", options.geometries,
                 "Pool to check on: a name of `poolproof list geometries`, its sizes varied from trace to trace, or "
                 "KEY=VAL,... to pin exactly that pool. May be given many times. Default: all names")
      ->type_name("NAME|KEY=VAL,...")
      ->take_all()
      ->allow_extra_args(false);
}

void add_extent(CLI::App& app, CheckOptions& options) {
  app.add_option("--traces", options.traces,
                 fmt::format("Random traces an implementation. Default: {}, or with --time no limit", default_traces))
      ->type_name("N")
      ->check(whole_number(1, most_traces));
  app.add_option("--ops", options.ops, "Ops a trace")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed, or `random`. Default: $POOLPROOF_SEED, else 1")->type_name("S");
  app.add_option("--time", options.report.time_s, "Time limit an implementation, in seconds")
      ->type_name("SECS")
      ->check(seconds());
  app.add_option("--shard", options.shard,
                 "Run part I of N, I from 0: the parts together are the whole run. Default: $GTEST_SHARD_INDEX of "
                 "$GTEST_TOTAL_SHARDS, else the task of a Slurm array, else all")
      ->type_name("I/N");
}

void add_how(CLI::App& app, CheckOptions& options) {
  app.add_flag("--guided", options.guided,
               "Go on from traces that reached new states of the pools, half of the time, and end traces that reach "
               "none (docs/fuzzing.md). Each shard has its own");
  app.add_option("--out", options.report.out, "Folder for shrunk traces; made when there is one to write")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--census-every", options.census_every, "Ops between whole-pool censuses; 0: at the end alone")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_flag("--coverage", options.report.coverage, "Print what the traces exercised");
  app.add_flag("--require-coverage", options.report.require_coverage,
               "Fail (status 3) when an op, a pair of ops or a corner that these pools can show was not exercised");
  app.add_flag("--explain-capabilities", options.report.capabilities,
               "Print what external implementations offer, what was exercised of it and what was skipped");
  add_impl_options(app, options.how);
  add_output_options(app, options.output);
  app.add_option("--progress", options.progress, "Progress line on stderr: auto (on a terminal), never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
}

/// Everything but the implementations.
Result<CampaignOptions, Complaint> campaign_of(const CheckOptions& options, const Shard& shard) {
  CampaignOptions campaign;
  Result<PickedGeometries, Complaint> geometries = pick_geometries(options.geometries);
  if (!geometries) {
    return geometries.error();
  }
  const Result<std::uint64_t, Complaint> seed = pick_seed(options.seed);
  if (!seed) {
    return seed.error();
  }
  std::error_code ignored;
  if (std::filesystem::exists(options.report.out, ignored) &&
      !std::filesystem::is_directory(options.report.out, ignored)) {
    return Complaint{fmt::format("--out {}: that is a file; name a folder", options.report.out)};
  }
  campaign.geometries = std::move(geometries->geometries);
  campaign.vary = geometries->vary;
  campaign.seed = *seed;
  campaign.traces = options.traces.value_or(options.report.time_s > 0 ? 0 : default_traces);
  campaign.ops = options.ops;
  campaign.census_every = options.census_every;
  campaign.ranks = options.how.ranks;
  campaign.guided = options.guided;
  campaign.shard_index = shard.index;
  campaign.shard_count = shard.count;
  return campaign;
}

void print_start(Console& console, const CampaignOptions& campaign, const Shard& shard) {
  const std::string part = shard_text(shard);
  console.print(fmt::format("seed {}{}{}\n", campaign.seed, part.empty() ? "" : ", ", part));
}

void print_capabilities(Console& console, const PickedImpls& picked, const CampaignReport& found) {
  for (std::size_t i = 0; i < found.outcomes.size(); ++i) {
    if (const ExternalImpl* external = picked.external(picked.impls[i])) {
      console.print("\n" + capabilities_table(external->session->capabilities(), found.outcomes[i].coverage));
    }
  }
}

int check(const CheckOptions& options) {
  const Result<Shard, Complaint> shard = pick_shard(options.shard);
  if (!shard) {
    return refuse(shard.error());
  }
  Result<CampaignOptions, Complaint> campaign = campaign_of(options, *shard);
  if (!campaign) {
    return refuse(campaign.error());
  }
  const Result<PickedImpls, Complaint> picked = pick_impls(options.impls, options.how);
  if (!picked) {
    return refuse(picked.error());
  }
  campaign->impls = picked->impls;
  Result<OutputFiles, Complaint> files = OutputFiles::open(options.output);
  if (!files) {
    return refuse(files.error());
  }
  Console console = options.output.console();
  Progress progress(options.progress == "auto" && stderr_is_terminal(), options.report.time_s);
  catch_interrupts();
  campaign->stop = [&] { return interrupted() || progress.time_is_up(); };
  campaign->shrink.stop = interrupted;
  campaign->progress = [&](const CampaignProgress& now) { progress.update(now); };
  print_start(console, *campaign, *shard);
  const CampaignReport found = run_campaign(*campaign);
  progress.wipe();
  Summary summary = report_check(console, options.report, *campaign, found, progress);
  if (options.report.capabilities) {
    print_capabilities(console, *picked, found);
  }
  return files->finish(summary, console);
}

}  // namespace

Command add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand("check", "Run random traces and report the first violation, shrunk");
  auto options = std::make_shared<CheckOptions>();
  add_what(*app, *options);
  add_extent(*app, *options);
  add_how(*app, *options);
  app->footer(
      "Exit status: 0 holds; 1 violated (the shrunk trace is written and its replay line printed); 2 bad usage;\n"
      "3 an implementation could not be run, the canary was not caught, or --require-coverage missed something;\n"
      "130 interrupted before anything was found.\n\n"
      "Examples:\n"
      "  poolproof check --impl exec:'python3 adapters/template.py' --explain-capabilities\n"
      "  poolproof check --traces 20000 --seed random\n"
      "  poolproof check --impl B15-group-end --geometry layout=hybrid,page=4,full=8p,swa=8p,ring=8,window=4,reqs=2");
  return {app, [options] { return check(*options); }};
}

}  // namespace poolproof::cli
