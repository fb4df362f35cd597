#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/interrupt.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_file.hpp"
#include "cli/output_options.hpp"
#include "cli/zoo_summary.hpp"
#include "fuzz/explorer/shortest.hpp"
#include "impl/ranks.hpp"
#include "recording/trace_file.hpp"

namespace poolproof::cli {
namespace {

struct ZooFlags {
  std::vector<std::string> impls{"mutants"};
  std::vector<std::string> engines;
  std::uint32_t seeds = 5;
  std::uint64_t traces = 6000;
  std::uint64_t states = 200'000;
  std::string corpus;
  std::string color = "auto";
  std::string json;
  std::string markdown;
  std::string progress = "auto";
};

/// Whose trace it is: its line "# mutant: NAME".
std::string mutant_of(const std::filesystem::path& file) {
  constexpr std::string_view key = "# mutant: ";
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(key)) {
      return line.substr(key.size());
    }
  }
  return {};
}

/// The traces of a folder that name a mutant, by name.
Result<std::vector<ZooTrace>, TextError> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".trace") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<ZooTrace> corpus;
  for (const std::filesystem::path& file : files) {
    const std::string mutant = mutant_of(file);
    if (mutant.empty()) {
      continue;
    }
    Result<Trace, TextError> trace = read_trace_file(file.string());
    if (!trace) {
      return trace.error();
    }
    corpus.push_back({file.stem().string(), mutant, std::move(trace).value()});
  }
  return corpus;
}

/// Without --engine: all, the corpus where there is one.
std::vector<ZooEngine> engines_of(const ZooFlags& flags) {
  if (flags.engines.empty()) {
    std::vector<ZooEngine> engines{ZooEngine::check, ZooEngine::simulate, ZooEngine::explorer};
    if (!flags.corpus.empty()) {
      engines.push_back(ZooEngine::corpus);
    }
    return engines;
  }
  std::vector<ZooEngine> engines;
  for (const std::string& name : flags.engines) {
    const ZooEngine engine = *zoo_engine_from(name);  // CLI11 has checked it
    if (std::find(engines.begin(), engines.end(), engine) == engines.end()) {
      engines.push_back(engine);
    }
  }
  return engines;
}

std::optional<Complaint> wrong(const ZooFlags& flags, const PickedImpls& picked) {
  for (const ImplInfo* impl : picked.impls) {
    if (impl->caught_by.empty()) {
      return Complaint{
          fmt::format("--impl {}: it is no planted fault; `poolproof list mutants` names them", impl->name)};
    }
  }
  const std::vector<ZooEngine> engines = engines_of(flags);
  const bool replays = std::find(engines.begin(), engines.end(), ZooEngine::corpus) != engines.end();
  if (replays && flags.corpus.empty()) {
    return Complaint{"--engine corpus replays traces; name their folder by --corpus DIR"};
  }
  if (!flags.corpus.empty() && !std::filesystem::is_directory(flags.corpus)) {
    return Complaint{fmt::format("--corpus {}: there is no such folder", flags.corpus)};
  }
  return std::nullopt;
}

int zoo(const ZooFlags& flags) {
  const Result<PickedImpls, Complaint> picked = pick_impls(flags.impls, ImplOptions{});
  if (!picked) {
    return refuse(picked.error());
  }
  if (const auto complaint = wrong(flags, *picked)) {
    return refuse(*complaint);
  }
  ZooOptions options;
  options.impls = picked->impls;
  options.engines = engines_of(flags);
  options.seeds = flags.seeds;
  options.traces = flags.traces;
  options.stop = interrupted;
  options.shortest = [&flags](const ImplInfo& impl) {
    ShortestOptions how;
    how.threads = std::max(1U, std::thread::hardware_concurrency());
    how.most_states = flags.states;
    how.stop = interrupted;
    Shortest found = shortest_trace(with_ranks(impl, 1), hunting_scopes(), how);
    return ZooShortest{found.scopes, std::move(found.verdict), found.trace.ops.size()};
  };
  if (!flags.corpus.empty()) {
    auto corpus = read_corpus(flags.corpus);
    if (!corpus) {
      return refuse_text(corpus.error());
    }
    options.corpus = std::move(corpus).value();
  }
  std::optional<OutputFile> json;
  std::optional<OutputFile> markdown;
  if (auto complaint = open_into(json, flags.json); complaint) {
    return refuse(*complaint);
  }
  if (auto complaint = open_into(markdown, flags.markdown); complaint) {
    return refuse(*complaint);
  }
  Console console(flags.json == "-" || flags.markdown == "-", color_mode(flags.color));
  const bool shown = flags.progress == "auto" && stderr_is_terminal();
  if (shown) {
    options.progress = [](const std::string& impl, std::size_t done, std::size_t all) {
      fmt::print(stderr, "\r\033[K{} of {}: {}", done, all, impl);
    };
  }
  catch_interrupts();
  ZooSummary summary;
  summary.engines = options.engines;
  summary.seeds = options.seeds;
  summary.rows = run_zoo(options);
  if (shown) {
    fmt::print(stderr, "\r\033[K");
  }
  summary.complete = !interrupted();
  summary.status = !summary.complete ? exit_interrupted : survivors(summary.rows) > 0 ? exit_violated : exit_holds;
  console.print(zoo_table(summary));
  const bool written =
      (!json || write_asked(json, zoo_json(summary))) && (!markdown || write_asked(markdown, zoo_markdown(summary)));
  if (!written && summary.status == exit_holds) {
    return exit_usage;
  }
  return console.finish(summary.status);
}

}  // namespace

Command add_zoo(CLI::App& program) {
  CLI::App* app = program.add_subcommand("zoo", "Run every engine against every planted fault and show what caught it");
  auto flags = std::make_shared<ZooFlags>();
  app->add_option("--impl", flags->impls, "Planted faults: names of `list mutants`, or a set such as mutants")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option(
         "--engine", flags->engines,
         "check (random traces), simulate (a simulated engine), explorer (every sequence in small scopes), corpus "
         "(kept traces). May be given many times. "
         "Default: all, corpus where --corpus names one")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"check", "simulate", "explorer", "corpus"}));
  app->add_option("--seeds", flags->seeds, "Runs of check and of simulate, seeds 1 to N; figures are medians")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  app->add_option("--traces", flags->traces, "Traces of a run of check, at most")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--states", flags->states, "States of a scope that the explorer goes through, at most")
      ->type_name("N")
      ->check(whole_number(1, 4'000'000'000))
      ->capture_default_str();
  app->add_option("--corpus", flags->corpus,
                  "Folder of traces; each is replayed on the fault that its `# mutant:` names")
      ->type_name("DIR");
  add_color(*app, flags->color);
  app->add_option("--json", flags->json, "Write the matrix as JSON; - is stdout")->type_name("FILE");
  app->add_option("--markdown", flags->markdown, "Write the matrix as a Markdown table; - is stdout")
      ->type_name("FILE");
  app->add_option("--progress", flags->progress, "Progress line on stderr: auto (on a terminal), never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
  app->footer(
      "Exit status: 0 every fault was caught by some engine; 1 one survived all; 2 bad usage; 130 interrupted.\n\n"
      "Examples:\n"
      "  poolproof zoo --corpus fuzz/regressions\n"
      "  poolproof zoo --impl B20 --impl B46 --engine check --seeds 20");
  return {app, [flags] { return zoo(*flags); }};
}

}  // namespace poolproof::cli
