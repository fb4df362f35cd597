#include "cli/simulate_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "props/workload/features.hpp"
#include "props/workload/presets.hpp"

namespace poolproof::cli {
namespace {

constexpr std::uint64_t swarm_stream = 0x737761726d;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelPreset& preset : model_presets()) {
    names.emplace_back(preset.name);
  }
  return names;
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const FeatureInfo& feature : serving_features()) {
    names.emplace_back(feature.name);
  }
  return names;
}

void add_what(CLI::App& app, SimulateOptions& options) {
  app.add_option("WORKLOAD", options.workload,
                 "Azure CSV or Mooncake JSONL, plain or .zst; - is stdin; or synthetic[:KEY=VAL,...] "
                 "(docs/simulating.md)")
      ->required()
      ->type_name("");
  app.add_flag("--lenient", options.lenient, "Leave malformed rows out and count them");
  app.add_option("--model", options.model, "Pool of a model: " + fmt::format("{}", fmt::join(model_names(), ", ")))
      ->type_name("NAME");
  app.add_option("--geometry", options.geometry,
                 "Pool, or what of the model's to change: keys as for check. Default without --model: "
                 "layout=hybrid,page=256,full=4096p,swa=1024p,window=128,reqs=256")
      ->type_name("KEY=VAL,...");
  app.add_option("--impl", options.impl, "Implementation: a name, or exec:'COMMAND', as for check")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed, or `random`. Default: $POOLPROOF_SEED, else 1")->type_name("S");
  app.add_option("--requests", options.requests, "Requests at most. Default: all of the workload")
      ->type_name("N")
      ->check(whole_number(1, std::numeric_limits<std::uint64_t>::max()));
  app.add_option("--speed", options.speed, "Arrivals come so many times faster")
      ->type_name("X")
      ->check(factor())
      ->capture_default_str();
}

void add_engine(CLI::App& app, SimulateOptions& options) {
  app.add_option("--chunk", options.serving.chunk_tokens, "Tokens of prompts that a step takes in")
      ->type_name("TOKENS")
      ->check(whole_number(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--running", options.serving.max_running, "Requests that run at once, at most")
      ->type_name("N")
      ->check(whole_number(1, most_running))
      ->capture_default_str();
  app.add_option("--speculate", options.serving.speculate, "Tokens written ahead of each decoded one")
      ->type_name("K")
      ->check(whole_number(0, 64))
      ->capture_default_str();
  app.add_option("--aborts", options.serving.abort_permille, "Requests of a thousand that are aborted")
      ->type_name("N")
      ->check(whole_number(0, 1000))
      ->capture_default_str();
  app.add_option("--read-one-in", options.serving.read_one_in,
                 "One in so many forward passes of a request is read back; 0: none")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--with", options.with, "Switch a feature of the engine on")->type_name("FEATURE")->take_all();
  app.add_option("--without", options.without, fmt::format("Switch one off: {}", fmt::join(feature_names(), ", ")))
      ->type_name("FEATURE")
      ->take_all();
  app.add_flag("--swarm", options.swarm, "Draw features, speculation, chunk and batch from the seed");
}

void add_how(CLI::App& app, SimulateOptions& options) {
  app.add_option("--census-every", options.census_every, "Ops between whole-pool censuses; 0: at the end alone")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_option("--time", options.time_s, "End the run after so many seconds")->type_name("SECS")->check(seconds());
  app.add_option("--trace-out", options.trace_out, "Write the trace that was made; *.zst is packed, - is stdout")
      ->type_name("FILE");
  app.add_option("--html", options.html, "Write one page that shows what the pools did")->type_name("FILE");
  app.add_option("--out", options.out, "Folder for a failing trace, shrunk; made when there is one to write")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--no-shrink", options.no_shrink, "Write a failing trace as it is");
  add_impl_options(app, options.how);
  add_output_options(app, options.output);
  app.add_option("--progress", options.progress, "Progress line on stderr: auto (on a terminal), never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
}

/// Without a model: a pool that any workload runs through within seconds.
Geometry default_geometry() {
  Geometry g;
  g.layout = Layout::hybrid;
  g.page = 256;
  g.full = 4096 * g.page;
  g.swa = 1024 * g.page;
  g.window = 128;
  g.reqs = 256;
  return g;
}

Result<Geometry, Complaint> geometry_of(const SimulateOptions& options) {
  Geometry geometry = default_geometry();
  if (!options.model.empty()) {
    const auto& presets = model_presets();
    const auto found = std::find_if(presets.begin(), presets.end(),
                                    [&](const ModelPreset& preset) { return preset.name == options.model; });
    if (found == presets.end()) {
      return Complaint{fmt::format("--model: no model is named '{}'{}; there are {}", options.model,
                                   nearest_hint(options.model, model_names()), fmt::join(model_names(), ", "))};
    }
    geometry = found->geometry;
  } else if (options.geometry.find("layout=") != std::string::npos) {
    geometry = {};
  }
  if (!options.geometry.empty()) {
    if (const auto fault = set_geometry_keys(geometry, options.geometry)) {
      return Complaint{fmt::format("--geometry {}: {}", options.geometry, *fault)};
    }
  }
  return geometry;
}

std::optional<Complaint> switch_features(const std::vector<std::string>& names, bool on, ServingFeatures& features) {
  for (const std::string& name : names) {
    const auto& known = serving_features();
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const FeatureInfo& feature) { return feature.name == name; });
    if (found == known.end()) {
      return Complaint{fmt::format("{}: no feature is named '{}'{}; there are {}", on ? "--with" : "--without", name,
                                   nearest_hint(name, feature_names()), fmt::join(feature_names(), ", "))};
    }
    features.*found->flag = on;
  }
  return std::nullopt;
}

}  // namespace

void add_simulate_options(CLI::App& app, SimulateOptions& options) {
  add_what(app, options);
  add_engine(app, options);
  add_how(app, options);
}

Result<ServingOptions, Complaint> serving_of(const SimulateOptions& options) {
  ServingOptions serving = options.serving;
  const Result<Geometry, Complaint> geometry = geometry_of(options);
  if (!geometry) {
    return geometry.error();
  }
  const Result<std::uint64_t, Complaint> seed = pick_seed(options.seed);
  if (!seed) {
    return seed.error();
  }
  serving.geometry = *geometry;
  serving.seed = *seed;
  serving.requests = options.requests;
  serving.speed_permille = static_cast<std::uint64_t>(std::llround(options.speed * 1000));
  if (options.swarm) {
    RandomChoices choices(serving.seed, swarm_stream);
    serving = draw_serving(serving, choices);
  }
  for (const bool on : {true, false}) {
    if (auto complaint = switch_features(on ? options.with : options.without, on, serving.features)) {
      return *std::move(complaint);
    }
  }
  if (const auto fault = serving_fault(serving)) {
    return Complaint{*fault};
  }
  return serving;
}

}  // namespace poolproof::cli
