#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/interrupt.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_file.hpp"
#include "cli/output_options.hpp"
#include "cli/saver_summary.hpp"
#include "cli/size_text.hpp"
#include "impl/cuda/cuda.hpp"
#include "props/saver/saver_pools.hpp"

namespace poolproof::cli {
namespace {

constexpr std::int64_t gib_bytes = std::int64_t{1} << 30;
constexpr std::int64_t mib_bytes = std::int64_t{1} << 20;
/// Granules of the host's and a part of one of a GPU's, and never whole ones.
constexpr std::int64_t cycle_weights_bytes = 100'000;
constexpr const char* gpu_impl = "cuda-saver";

struct SaverOptions {
  std::vector<std::string> impls;
  std::vector<std::string> pools;
  std::string preset = "auto";
  std::string geometry;
  std::string expect_freed = "as-built";
  bool engine = false;
  std::string weights = "auto";
  std::optional<std::string> reading;
  std::uint64_t cycles = 0;
  std::string seed;
  std::string color = "auto";
  std::string json;
};

bool on_gpu(const std::string& impl) { return impl.starts_with(gpu_impl); }

/// As given, or the one for this machine.
std::vector<std::string> impls_of(const SaverOptions& options) {
  if (!options.impls.empty()) {
    return options.impls;
  }
  return {cuda_missing() ? "saver" : gpu_impl};
}

SaverPreset preset_of(const SaverOptions& options, const std::string& impl) {
  const bool reference = options.preset == "reference" || (options.preset == "auto" && on_gpu(impl));
  return reference ? SaverPreset::reference : SaverPreset::small;
}

std::vector<std::string> pool_names() {
  std::vector<std::string> names;
  for (const NamedGeometry& pool : saver_pools(SaverPreset::small)) {
    names.push_back(pool.name);
  }
  return names;
}

/// The pools by name, in the order named, each changed as --geometry says.
Result<std::vector<NamedGeometry>, Complaint> pools_of(const SaverOptions& options, SaverPreset preset) {
  const std::vector<NamedGeometry> known = saver_pools(preset);
  std::vector<NamedGeometry> pools;
  for (const std::string& name : options.pools) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const NamedGeometry& pool) { return pool.name == name; });
    if (name == "all") {
      pools.insert(pools.end(), known.begin(), known.end());
    } else if (found == known.end()) {
      return Complaint{fmt::format("--pool: no pool is named '{}'{}; there are {} and all", name,
                                   nearest_hint(name, pool_names()), fmt::join(pool_names(), ", "))};
    } else {
      pools.push_back(*found);
    }
  }
  for (NamedGeometry& pool : pools) {
    if (options.geometry.empty()) {
      continue;
    }
    if (const auto fault = set_geometry_keys(pool.geometry, options.geometry)) {
      return Complaint{fmt::format("--geometry {} on {}: {}", options.geometry, pool.name, *fault)};
    }
    if (pool.geometry.kv.none()) {
      return Complaint{fmt::format("--geometry {}: a pool without kv has no memory to pause", options.geometry)};
    }
  }
  return pools;
}

Result<std::int64_t, Complaint> weights_of(const SaverOptions& options, SaverPreset preset) {
  if (options.weights == "auto") {
    return preset == SaverPreset::reference ? 8 * gib_bytes : 100 * mib_bytes;
  }
  const std::optional<std::int64_t> bytes = parse_size(options.weights, 1);
  if (!bytes || *bytes < 1) {
    return Complaint{
        fmt::format("--weights {}: give a size such as 52GiB, 100MiB or a number of bytes", options.weights)};
  }
  return *bytes;
}

/// "85.3,32.9,85.3", in GiB unless it says otherwise.
Result<EngineReading, Complaint> given_reading(const std::string& text) {
  std::array<std::int64_t, 3> points{};
  std::size_t count = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<std::int64_t> bytes = parse_size(part, gib_bytes);
    if (!bytes || count == points.size()) {
      count = 0;
      break;
    }
    points.at(count++) = *bytes;
  }
  if (count != points.size()) {
    return Complaint{
        fmt::format("--reading {}: give three figures in GiB: used after load, after releasing all, after resuming the "
                    "weights alone, "
                    "as in 85.3,32.9,85.3",
                    text)};
  }
  return EngineReading{0, points[0], points[1], points[2]};
}

Complaint unknown_impl(const std::string& name) {
  std::vector<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.memory) {
      names.push_back(impl.name);
    }
  }
  return Complaint{
      fmt::format("--impl: no implementation that builds memory is named '{}'{}; there are {}, and "
                  "cuda-saver:NAME for each mutant",
                  name, nearest_hint(name, names), fmt::join(names, ", "))};
}

/// All that was asked of one implementation.
Result<SaverImplSummary, Complaint> measure(const SaverOptions& options, const std::string& impl, std::uint64_t seed) {
  const SaverPreset preset = preset_of(options, impl);
  const auto pools = pools_of(options, preset);
  if (!pools) {
    return pools.error();
  }
  const auto weights = weights_of(options, preset);
  if (!weights) {
    return weights.error();
  }
  const auto target = open_saver(impl);
  if (!target) {
    return unknown_impl(impl);
  }
  if (!*target) {
    return Complaint{fmt::format("{} could not be run: {}", impl, target->error()), exit_no_verdict};
  }
  const auto& [parts, memory] = **target;
  SaverImplSummary summary{impl, memory->name(), memory->granule_bytes(), memory->counts_others(), {}, {}, {}};
  const auto could_not = [&](const std::string& why) {
    const char* remedy = preset == SaverPreset::reference ? "; a smaller one is --preset small" : "";
    return Complaint{fmt::format("{} could not be run: {}{}", impl, why, remedy), exit_no_verdict};
  };
  for (const NamedGeometry& pool : *pools) {
    auto reading = read_saver(pool, memory, parts);
    if (!reading) {
      return could_not(reading.error());
    }
    summary.pools.push_back(std::move(reading).value());
  }
  for (std::size_t i = 0; options.engine && i < pools->size(); ++i) {
    Geometry geometry = (*pools)[i].geometry;
    geometry.kv.weights_bytes = *weights;
    const auto reading = read_engine(geometry, memory, parts);
    if (!reading) {
      return could_not(reading.error());
    }
    summary.engines.push_back({(*pools)[i].name, *reading, judge_engine(*reading, memory->granule_bytes())});
  }
  for (const NamedGeometry& pool : saver_pools(SaverPreset::tiny)) {
    const bool asked =
        std::any_of(pools->begin(), pools->end(), [&](const auto& one) { return one.name == pool.name; });
    if (options.cycles == 0 || !asked) {
      continue;
    }
    Geometry geometry = pool.geometry;
    geometry.kv.weights_bytes = cycle_weights_bytes;
    summary.cycles.push_back({pool.name, run_saver_cycles(saver_on(impl, memory, parts), *memory, geometry,
                                                          options.cycles, seed, [] { return interrupted(); })});
  }
  return summary;
}

int saver(SaverOptions options) {
  if (options.pools.empty()) {
    options.pools = {"mha-swa", "mla-swa", "dsa-swa"};
  }
  const auto seed = pick_seed(options.seed);
  if (!seed) {
    return refuse(seed.error());
  }
  std::optional<OutputFile> json;
  if (auto complaint = open_into(json, options.json); complaint) {
    return refuse(*complaint);
  }
  Console console(options.json == "-", color_mode(options.color));
  catch_interrupts();
  SaverSummary summary;
  summary.expect_all = options.expect_freed == "all";
  bool all_hold = true;
  if (options.reading) {
    const auto reading = given_reading(*options.reading);
    if (!reading) {
      return refuse(reading.error());
    }
    const std::int64_t slack = reading->loaded_bytes / 100;
    summary.given = EnginePoints{"", *reading, judge_engine(*reading, slack)};
    console.print(engine_table(*summary.given));
    all_hold = holds(*summary.given, summary.expect_all);
  } else {
    for (const std::string& impl : impls_of(options)) {
      auto measured = measure(options, impl, *seed);
      if (!measured) {
        return refuse(measured.error());
      }
      console.print(fmt::format("{}{}", summary.impls.empty() ? "" : "\n", saver_table(*measured, summary.expect_all)));
      all_hold = holds(*measured, summary.expect_all) && all_hold;
      summary.impls.push_back(std::move(measured).value());
    }
    console.print(freed_matrix(summary));
  }
  summary.status = !all_hold ? exit_violated : interrupted() ? exit_interrupted : exit_holds;
  if (json && !write_asked(json, saver_json(summary))) {
    return summary.status == exit_holds ? static_cast<int>(exit_usage) : summary.status;
  }
  return console.finish(summary.status);
}

}  // namespace

Command add_saver(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "saver", "Build pools in a memory saver's regions, pause and resume them, and show what was freed");
  auto options = std::make_shared<SaverOptions>();
  app->add_option(
         "--impl", options->impls,
         "saver (host), cuda-saver (GPU), a mutant of `list mutants` that builds memory, or cuda-saver:MUTANT. May "
         "be given many times. Default: the GPU where there is one, else the host")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false);
  app->add_option("--pool", options->pools,
                  fmt::format("Pools to build: {}, or all. May be given many times. Default: the first three",
                              fmt::join(pool_names(), ", ")))
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false);
  app->add_option(
         "--preset", options->preset,
         "Sizes: reference (48 layers, 262144 full and 65536 SWA tokens; 21 GiB of MHA), small (4 layers, a few "
         "MiB), auto (reference on a GPU, small on the host)")
      ->type_name("SIZES")
      ->check(CLI::IsMember({"auto", "reference", "small"}))
      ->capture_default_str();
  app->add_option("--geometry", options->geometry,
                  "What of each pool to change: keys of the pool line, as full=8192,heads=4,dtype=fp8,saver=off")
      ->type_name("KEY=VAL,...");
  app->add_option("--expect-freed", options->expect_freed,
                  "all: what stays resident after a pause is a violation, exit status 1; as-built: it is told")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"all", "as-built"}))
      ->capture_default_str();
  app->add_flag("--engine", options->engine,
                "Also load weights beside each pool, and read what is used after load, after releasing all, and after "
                "resuming the weights alone");
  app->add_option("--weights", options->weights,
                  "Size of the weights: 52GiB, 100MiB. Default: 8 GiB with reference, 100 MiB with small")
      ->type_name("SIZE");
  app->add_option("--reading", options->reading,
                  "Nothing is built: says what the three figures of your engine mean, in GiB, as 85.3,32.9,85.3")
      ->type_name("A,B,C");
  app->add_option("--cycles", options->cycles,
                  "Also run random traces on such pools in tiny sizes until so many resumes were served")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  app->add_option("--seed", options->seed, "Seed of the cycles, or `random`. Default: $POOLPROOF_SEED, else 1")
      ->type_name("S");
  add_color(*app, options->color);
  app->add_option("--json", options->json, "Write the figures as JSON; - is stdout")->type_name("FILE");
  app->footer(
      "Exit status: 0 holds; 1 a buffer moved, lost or kept what it should not, memory leaked, or something stayed\n"
      "resident that was expected to be freed; 2 bad usage; 3 the memory cannot be had.\n\n"
      "Examples:\n"
      "  poolproof saver --expect-freed all\n"
      "  poolproof saver --impl saver-index-outside --pool dsa-swa\n"
      "  poolproof saver --engine --impl saver-no-flag\n"
      "  poolproof saver --reading 85.3,32.9,85.3");
  return {app, [options] { return saver(*options); }};
}

}  // namespace poolproof::cli
