#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "cli/commands.hpp"
#include "cli/explore_summary.hpp"
#include "cli/findings.hpp"
#include "cli/interrupt.hpp"
#include "cli/limits.hpp"
#include "cli/names.hpp"
#include "cli/output_file.hpp"
#include "cli/output_options.hpp"
#include "cli/progress.hpp"
#include "cli/shard.hpp"
#include "cli/size_text.hpp"
#include "cli/version.hpp"
#include "props/lockstep.hpp"

namespace poolproof::cli {
namespace {

constexpr std::int64_t mib_bytes = std::int64_t{1} << 20;
/// Certificates are small; what is larger is something else.
constexpr std::uintmax_t most_certificate_bytes = std::uintmax_t{1} << 20;
constexpr std::uint32_t most_threads = 256;

struct ExploreFlags {
  std::vector<std::string> impls{"host"};
  std::vector<std::string> scopes{"small"};
  std::optional<std::uint32_t> depth;
  std::uint32_t threads = 0;
  std::string memory = "4GiB";
  std::string certificates;
  std::vector<std::string> verify;
  std::string out = "poolproof-out";
  std::string shard;
  bool list = false;
  std::string color = "auto";
  std::string json;
  std::string progress = "auto";
};

/// One exploration to be run.
struct Run {
  const ImplInfo* impl = nullptr;
  Scope scope;
  std::string certificate_file;  ///< of `certified`
  std::optional<Certificate> certified;
};

std::uint32_t threads_of(const ExploreFlags& flags) {
  return flags.threads != 0 ? flags.threads
                            : std::clamp(std::thread::hardware_concurrency(), 1U, std::uint32_t{most_threads});
}

std::vector<std::string> scope_names() {
  std::vector<std::string> names{"small", "all"};
  for (const Scope& scope : named_scopes()) {
    names.push_back(scope.name);
  }
  return names;
}

Result<std::vector<Scope>, Complaint> scopes_of(const ExploreFlags& flags) {
  std::vector<Scope> scopes;
  for (const std::string& text : flags.scopes) {
    if (text == "small" || text == "all") {
      const std::span<const Scope> known = text == "all" ? named_scopes() : small_scopes();
      scopes.insert(scopes.end(), known.begin(), known.end());
    } else if (const Scope* known = find_scope(text)) {
      scopes.push_back(*known);
    } else if (text.find('=') == std::string::npos) {
      return Complaint{
          fmt::format("--scope: no scope is named '{}'{}; `poolproof explore --list` names them all, and "
                      "KEY=VAL,... makes one",
                      text, nearest_hint(text, scope_names()))};
    } else {
      Result<Scope, std::string> scope = scope_from(text);
      if (!scope) {
        return Complaint{fmt::format("--scope {}: {}", text, scope.error())};
      }
      scopes.push_back(std::move(scope).value());
    }
    if (flags.depth) {
      std::for_each(scopes.begin(), scopes.end(), [&](Scope& scope) { scope.depth = *flags.depth; });
    }
  }
  return scopes;
}

Result<std::vector<Run>, Complaint> runs_of(const ExploreFlags& flags, const PickedImpls& picked) {
  const Result<std::vector<Scope>, Complaint> scopes = scopes_of(flags);
  if (!scopes) {
    return scopes.error();
  }
  std::vector<Run> runs;
  for (const ImplInfo* impl : picked.impls) {
    for (const Scope& scope : *scopes) {
      // Of a set, those that the implementation is made for; what was named is run, or it is said why not.
      if (impl->supports(scope.geometry) || scopes->size() == 1) {
        runs.push_back({impl, scope, {}, std::nullopt});
      }
    }
  }
  if (runs.empty()) {
    return Complaint{
        "none of these implementations supports the pool of any of these scopes; "
        "`poolproof list mutants` says what each needs"};
  }
  return runs;
}

Result<Certificate, Complaint> read_certificate(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  const bool regular = std::filesystem::is_regular_file(path, ignored);
  if (!file || !regular) {
    return Complaint{fmt::format("--verify {}: there is no such file, or it cannot be read", path)};
  }
  if (std::filesystem::file_size(path, ignored) > most_certificate_bytes) {
    return Complaint{fmt::format("--verify {}: that is no certificate, it is too large", path)};
  }
  std::ostringstream text;
  text << file.rdbuf();
  Result<Certificate, std::string> certificate = certificate_from(text.str());
  if (!certificate) {
    return Complaint{fmt::format("--verify {}: {}", path, certificate.error())};
  }
  return std::move(certificate).value();
}

Result<std::vector<Run>, Complaint> certified_runs(const ExploreFlags& flags) {
  std::vector<Run> runs;
  for (const std::string& path : flags.verify) {
    Result<Certificate, Complaint> certificate = read_certificate(path);
    if (!certificate) {
      return certificate.error();
    }
    const ImplInfo* impl = find_impl(certificate->impl);
    if (impl == nullptr) {
      return Complaint{
          fmt::format("--verify {}: it is about '{}', and no implementation is named that", path, certificate->impl)};
    }
    runs.push_back({impl, certificate->scope, path, std::move(certificate).value()});
  }
  return runs;
}

/// The line on a terminal's stderr.
class ExploreLine {
 public:
  explicit ExploreLine(bool shown) : shown_(shown) {}
  ~ExploreLine() { wipe(); }
  ExploreLine(const ExploreLine&) = delete;
  ExploreLine& operator=(const ExploreLine&) = delete;

  void update(const Run& run, const ExploreProgress& now, double seconds) {
    if (!shown_) {
      return;
    }
    const auto states = static_cast<double>(std::max<std::uint64_t>(1, now.states));
    const auto total = static_cast<double>(std::max<std::uint64_t>(1, now.layer_total));
    const double rate = seconds > 0 ? static_cast<double>(now.transitions) / seconds : 0;
    fmt::print(stderr, "\r\033[K{} in {}: op {}, {:.0f} %, {} states of {:.0f} B, {} transitions, {}/s", run.impl->name,
               run.scope.name.empty() ? "this scope" : run.scope.name, now.depth,
               100 * static_cast<double>(now.layer_done) / total, short_number(states),
               static_cast<double>(now.bytes) / states, short_number(static_cast<double>(now.transitions)),
               short_number(rate));
    std::fflush(stderr);
    drawn_ = true;
  }
  void wipe() {
    if (drawn_) {
      fmt::print(stderr, "\r\033[K");
      drawn_ = false;
    }
  }

 private:
  bool shown_;
  bool drawn_ = false;
};

/// The trace as people read it: with page histories, pinned, in a file.
FailureRecord record_of(const Run& run, const ExploreResult& result, const std::string& folder) {
  FailureRecord record;
  record.impl = run.impl->name;
  record.trace = result.trace;
  RunResult again = run_and_pin(result.trace, *run.impl);
  record.reproduced = again.verdict.has_value();
  record.verdict = record.reproduced ? *std::move(again.verdict) : *result.verdict;
  record.original_ops = result.trace.ops.size();
  record.minimal = true;
  write_failing_trace(record, folder,
                      fmt::format("{} on {}: {}\nthe shortest there is in the scope {}", cause_id(record.verdict.cause),
                                  record.impl, record.verdict.what, to_string(run.scope)));
  return record;
}

ExploreRow explore_run(const Run& run, const ExploreFlags& flags, std::uint64_t memory_bytes, ExploreLine& line) {
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  ExploreOptions options;
  options.threads = threads_of(flags);
  options.memory_bytes = memory_bytes;
  options.stop = interrupted;
  options.progress = [&](const ExploreProgress& now) { line.update(run, now, seconds()); };
  ExploreRow row;
  row.impl = run.impl->name;
  row.scope = run.scope;
  row.result = poolproof::explore(run.scope, *run.impl, options);
  row.seconds = seconds();
  line.wipe();
  if (row.result.end == ExploreEnd::violated) {
    row.failure = record_of(run, row.result, flags.out);
  }
  return row;
}

bool complete(const ExploreRow& row) {
  return row.result.end == ExploreEnd::exhausted || row.result.end == ExploreEnd::depth;
}

/// Into the folder, as IMPL-SCOPE.json; false, and the reason on stderr, when it cannot be written.
bool write_certificate(ExploreRow& row, const std::string& folder) {
  const std::string name =
      file_name_of(fmt::format("{}-{}.json", row.impl, row.scope.name.empty() ? "scope" : row.scope.name));
  std::optional<Complaint> complaint = make_folder(folder);
  if (!complaint) {
    Result<OutputFile, Complaint> file = OutputFile::open(folder + "/" + name);
    complaint =
        file ? file->commit(to_json(certificate_of(row.impl, row.scope, row.result))) : std::optional(file.error());
  }
  if (complaint) {
    Console::complain(complaint->message);
    return false;
  }
  row.certificate = folder + "/" + name;
  return true;
}

void hold_against(ExploreRow& row, const Run& run) {
  row.verified = run.certificate_file;
  if (complete(row)) {
    row.differences = differences(*run.certified, certificate_of(row.impl, row.scope, row.result));
  }
}

void print_row(Console& console, const ExploreRow& row, const Run& run) {
  if (row.failure) {
    console.print(explain_failure(row.failure->view(), console.color()) + "\n");
  }
  if (row.result.end == ExploreEnd::could_not_run) {
    console.print(fmt::format("{} in {} could not be run: {}\n\n", row.impl, scope_title(row.scope), row.result.error));
  }
  for (const std::string& line : row.differences) {
    console.print(fmt::format("{}: {}\n", row.verified, line));
  }
  if (!row.differences.empty() && run.certified->version != version()) {
    console.print(
        fmt::format("{}: it was written by poolproof {}, this is {}: what an op, a state or the implementation "
                    "is may have changed\n",
                    row.verified, run.certified->version, version()));
  }
}

int list_scopes() {
  std::size_t width = 0;
  for (const Scope& scope : named_scopes()) {
    width = std::max(width, scope.name.size());
  }
  Console console(false, ColorMode::never);
  for (const Scope& scope : named_scopes()) {
    console.print(fmt::format("{:<{}}  {}\n", scope.name, width, to_string(scope)));
  }
  return console.finish(exit_holds);
}

std::optional<Complaint> wrong(const ExploreFlags& flags) {
  std::error_code ignored;
  for (const auto& [flag, folder] : {std::pair("--out", flags.out), std::pair("--certificates", flags.certificates)}) {
    if (!folder.empty() && std::filesystem::exists(folder, ignored) &&
        !std::filesystem::is_directory(folder, ignored)) {
      return Complaint{fmt::format("{} {}: that is a file; name a folder", flag, folder)};
    }
  }
  const std::optional<std::int64_t> memory = parse_size(flags.memory, 1);
  if (!memory || *memory < mib_bytes) {
    return Complaint{fmt::format("--memory {}: give a size of 1MiB at least, such as 8GiB", flags.memory)};
  }
  return std::nullopt;
}

int explore(const ExploreFlags& flags) {
  if (flags.list) {
    return list_scopes();
  }
  if (auto complaint = wrong(flags)) {
    return refuse(*complaint);
  }
  const Result<PickedImpls, Complaint> picked = pick_impls(flags.impls, ImplOptions{.isolate = "never"});
  if (!picked) {
    return refuse(picked.error());
  }
  const Result<std::vector<Run>, Complaint> runs =
      flags.verify.empty() ? runs_of(flags, *picked) : certified_runs(flags);
  if (!runs) {
    return refuse(runs.error());
  }
  const Result<Shard, Complaint> shard = pick_shard(flags.shard);
  if (!shard) {
    return refuse(shard.error());
  }
  std::optional<OutputFile> json;
  if (auto complaint = open_into(json, flags.json)) {
    return refuse(*complaint);
  }
  Console console(flags.json == "-", color_mode(flags.color));
  if (const std::string part = shard_text(*shard); !part.empty()) {
    console.print(part + "\n");
  }
  ExploreLine line(flags.progress == "auto" && stderr_is_terminal());
  catch_interrupts();
  ExploreSummary summary;
  summary.threads = threads_of(flags);
  bool written = true;
  const ImplInfo* violated = nullptr;
  for (std::size_t i = shard->index; i < runs->size() && !interrupted(); i += shard->count) {
    const Run& run = (*runs)[i];
    if (run.impl == violated) {
      continue;  // as with check, an implementation's run ends with its first finding
    }
    ExploreRow row = explore_run(run, flags, static_cast<std::uint64_t>(*parse_size(flags.memory, 1)), line);
    if (run.certified) {
      hold_against(row, run);
    }
    if (!flags.certificates.empty() && complete(row) && row.differences.empty()) {
      written = write_certificate(row, flags.certificates) && written;
    }
    violated = row.result.end == ExploreEnd::violated ? run.impl : nullptr;
    print_row(console, row, run);
    summary.rows.push_back(std::move(row));
  }
  summary.status = status_of(summary.rows, interrupted());
  console.print(explore_table(console, summary));
  written = (!json || write_asked(json, explore_json(summary))) && written;
  return console.finish(!written && summary.status == exit_holds ? int{exit_usage} : summary.status);
}

}  // namespace

Command add_explore(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "explore", "Run every sequence of ops in a small scope: the shortest failing trace, or a certificate");
  auto flags = std::make_shared<ExploreFlags>();
  app->add_option("--impl", flags->impls,
                  "Implementation to explore: a name (`poolproof list impls`), or a set such as mutants. May be given "
                  "many times")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option("--scope", flags->scopes,
                  "Scope: a name of --list, `small` (those of seconds), `all`, or KEY=VAL,... with the keys of a pool "
                  "and rows, positions, batch, depth, words. May be given many times")
      ->type_name("NAME|KEY=VAL,...")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option("--depth", flags->depth, "Ops of a sequence, at most. Default: the scope's; without one, any number")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  app->add_option("--threads", flags->threads, "Threads; the result is the same with any number. Default: one a core")
      ->type_name("N")
      ->check(whole_number(1, most_threads));
  app->add_option("--memory", flags->memory, "Memory that the states may take; then it ends and says what is covered")
      ->type_name("SIZE")
      ->capture_default_str();
  app->add_option("--certificates", flags->certificates, "Folder for certificates, IMPL-SCOPE.json each")
      ->type_name("DIR");
  app->add_option("--verify", flags->verify,
                  "Run what a certificate says was run, and compare. May be given many times; --impl and --scope do "
                  "not count then")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
  app->add_option("--out", flags->out, "Folder for failing traces; made when there is one to write")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_option("--shard", flags->shard,
                  "Run part I of N of the explorations, I from 0. Default: $GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS, "
                  "else the task of a Slurm array, else all")
      ->type_name("I/N");
  app->add_flag("--list", flags->list, "Print the scopes that have names");
  add_color(*app, flags->color);
  app->add_option("--json", flags->json, "Write what was covered as JSON; - is stdout")->type_name("FILE");
  app->add_option("--progress", flags->progress, "Progress line on stderr: auto (on a terminal), never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
  app->footer(
      "Exit status: 0 holds; 1 violated (the shortest trace is written), or not what the certificate says; 2 bad "
      "usage;\n3 an implementation could not be explored, or the memory did not suffice; 130 interrupted.\n\n"
      "Examples:\n"
      "  poolproof explore --impl B20 --scope hybrid-tiny\n"
      "  poolproof explore --scope layout=paged,page=2,full=3p,rows=2,positions=4,words=-backup-restore\n"
      "  poolproof explore --verify fuzz/certificates/host-token-tiny.json");
  return {app, [flags] { return explore(*flags); }};
}

}  // namespace poolproof::cli
