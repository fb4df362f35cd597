#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/json.hpp"
#include "cli/output_file.hpp"
#include "cli/output_options.hpp"
#include "cli/version.hpp"
#include "impl/registry.hpp"
#include "props/generator.hpp"
#include "props/workload/presets.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
  std::string what;
  bool names = false;
  std::string json;
};

std::string_view kind_name(ImplKind kind) {
  switch (kind) {
    case ImplKind::real:
      return "real";
    case ImplKind::mutant:
      return "mutant";
    case ImplKind::canary:
      return "canary";
  }
  return "";
}

std::vector<std::string> caught_by(const ImplInfo& impl) {
  std::vector<std::string> ids;
  for (const Invariant invariant : impl.caught_by) {
    ids.emplace_back(invariant_info(invariant).id);
  }
  return ids;
}

// Each item is an object whose first field is its name.

Json impl_items(bool mutants) {
  Json items = Json::array();
  std::vector<const ImplInfo*> listed;
  for (const ImplInfo& impl : builtin_impls()) {
    listed.push_back(&impl);
  }
  // Of the devices' mutants those with a fault of their own; the others are the host twin's once more.
  for (const ImplInfo& impl : device_mutant_impls()) {
    if (impl.make_rank) {
      listed.push_back(&impl);
    }
  }
  for (const ImplInfo* one : listed) {
    const ImplInfo& impl = *one;
    if (mutants && impl.kind != ImplKind::mutant) {
      continue;
    }
    Json item{{"name", impl.name}};
    if (mutants) {
      item["source"] = impl.source;
      item["caught_by"] = caught_by(impl);
    } else {
      item["kind"] = kind_name(impl.kind);
    }
    item["mechanism"] = impl.mechanism;
    items.push_back(std::move(item));
  }
  return items;
}

Json invariant_items() {
  Json items = Json::array();
  for (const InvariantInfo& info : invariants()) {
    items.push_back({{"name", info.id}, {"seen", info.census ? "census" : "op"}, {"statement", info.statement}});
  }
  return items;
}

Json rule_items() {
  Json items = Json::array();
  for (const RuleInfo& info : rules()) {
    items.push_back({{"name", info.id}, {"statement", info.statement}});
  }
  return items;
}

Json geometry_items() {
  Json items = Json::array();
  for (const NamedGeometry& named : all_geometries()) {
    items.push_back({{"name", named.name}, {"pool", to_string(named.geometry)}});
  }
  return items;
}

Json model_items() {
  Json items = Json::array();
  for (const ModelPreset& preset : model_presets()) {
    items.push_back(
        {{"name", preset.name}, {"layers", preset.layers}, {"cards", preset.on}, {"pool", to_string(preset.geometry)}});
  }
  return items;
}

Json items_of(const std::string& what) {
  if (what == "impls" || what == "mutants") {
    return impl_items(what == "mutants");
  }
  if (what == "invariants") {
    return invariant_items();
  }
  if (what == "models") {
    return model_items();
  }
  return what == "rules" ? rule_items() : geometry_items();
}

std::string cell(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  std::string joined;
  for (const Json& part : value) {
    joined += (joined.empty() ? "" : " ") + part.get<std::string>();
  }
  return joined;
}

/// A line an item, its fields in columns.
std::string table(const Json& items) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::size_t> widths;
  for (const Json& item : items) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Json& value : item) {
      line.push_back(cell(value));
      widths.resize(std::max(widths.size(), line.size()));
      widths[line.size() - 1] = std::max(widths[line.size() - 1], line.back().size());
    }
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      out += fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string names(const Json& items) {
  std::string out;
  for (const Json& item : items) {
    out += item["name"].get<std::string>() + "\n";
  }
  return out;
}

int list(const ListOptions& options) {
  const Json items = items_of(options.what);
  Console console(options.json == "-", ColorMode::never);
  if (!options.json.empty()) {
    Result<OutputFile, Complaint> file = OutputFile::open(options.json);
    if (!file) {
      return refuse(file.error());
    }
    const Json json{{"schema", json_schema}, {"program", "poolproof"}, {"version", version()},
                    {"command", "list"},     {"what", options.what},   {"items", items}};
    if (const std::optional<Complaint> complaint = file->commit(json.dump(2) + "\n")) {
      return refuse(*complaint);
    }
    return exit_holds;
  }
  console.print(options.names ? names(items) : table(items));
  return console.finish(exit_holds);
}

}  // namespace

Command add_list(CLI::App& program) {
  CLI::App* app = program.add_subcommand("list", "Name what there is: implementations, mutants, invariants, ...");
  auto options = std::make_shared<ListOptions>();
  app->add_option("WHAT", options->what, "impls, mutants, invariants, geometries, rules or models")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"impls", "mutants", "invariants", "geometries", "rules", "models"}));
  app->add_flag("--names", options->names, "Names alone, one a line");
  app->add_option("--json", options->json, "Write the list as JSON instead; - is stdout")->type_name("FILE");
  app->footer(
      "Exit status: 0; 2 bad usage.\n\n"
      "Each mutant of the host twin also runs on the device implementations, as cuda:NAME and cuda-host:NAME.");
  return {app, [options] { return list(*options); }};
}

}  // namespace poolproof::cli
