#include "cli/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "cli/own_program.hpp"

namespace poolproof::cli {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

constexpr std::string_view mutant_set = "mutants";
constexpr std::array<std::string_view, 5> impl_sets = {mutant_set, "all", "cuda:mutants", "cuda-host:mutants",
                                                       "cuda-saver:mutants"};

std::vector<std::string> impl_names() {
  std::vector<std::string> names(impl_sets.begin(), impl_sets.end());
  for (const std::span<const ImplInfo> impls : {builtin_impls(), device_mutant_impls()}) {
    for (const ImplInfo& impl : impls) {
      names.push_back(impl.name);
    }
  }
  return names;
}

bool is_set(std::string_view name) { return std::find(impl_sets.begin(), impl_sets.end(), name) != impl_sets.end(); }

/// "all" leaves out what cannot run on this machine: nobody asked for it by name.
bool in_set(const ImplInfo& impl, std::string_view set) {
  return impl.kind == ImplKind::mutant ||
         (set == "all" && impl.kind == ImplKind::real && (!impl.missing || !impl.missing()));
}

void add_once(std::vector<const ImplInfo*>& picked, const ImplInfo* impl) {
  if (std::find(picked.begin(), picked.end(), impl) == picked.end()) {
    picked.push_back(impl);
  }
}

void add_set(std::vector<const ImplInfo*>& picked, std::string_view set) {
  const bool of_a_device = set.ends_with(':' + std::string(mutant_set));
  const std::string_view prefix = of_a_device ? set.substr(0, set.size() - mutant_set.size()) : "";
  for (const ImplInfo& impl : of_a_device ? device_mutant_impls() : builtin_impls()) {
    if (impl.name.starts_with(prefix) && in_set(impl, set)) {
      add_once(picked, &impl);
    }
  }
}

std::chrono::milliseconds answer_limit(const ImplOptions& options) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(options.time_limit_s));
}

/// Starts it, unless it was named before.
std::optional<Complaint> add_external(PickedImpls& picked, const std::string& name, const ImplOptions& options) {
  const auto same = [&](const std::unique_ptr<ExternalImpl>& one) { return one->info.name == name; };
  if (std::any_of(picked.externals.begin(), picked.externals.end(), same)) {
    return std::nullopt;
  }
  Result<ExternalImpl, std::string> opened = open_external(name, answer_limit(options));
  if (!opened) {
    return Complaint{fmt::format("{} could not be run: {}", name, opened.error()), exit_no_verdict};
  }
  picked.externals.push_back(std::make_unique<ExternalImpl>(std::move(opened).value()));
  picked.impls.push_back(&picked.externals.back()->info);
  return std::nullopt;
}

/// Puts those of the registry that are to be isolated into a process of their own.
std::optional<Complaint> isolate(PickedImpls& picked, const ImplOptions& options) {
  for (const ImplInfo*& impl : picked.impls) {
    const bool asked = options.isolate == "always" || (options.isolate == "auto" && impl->isolated);
    if (asked && impl->memory) {
      return Complaint{
          fmt::format("--isolate always: {} builds the memory of its pools, which the protocol of a child "
                      "process has no calls for; leave --isolate out",
                      impl->name)};
    }
    if (asked && picked.external(impl) == nullptr) {
      picked.isolated.push_back(std::make_unique<ExternalImpl>(isolated(*impl, own_program(), answer_limit(options))));
      impl = &picked.isolated.back()->info;
    }
  }
  return std::nullopt;
}

Result<NamedGeometry, Complaint> pinned_geometry(const std::string& spec) {
  Geometry geometry;
  if (std::optional<std::string> fault = set_geometry_keys(geometry, spec)) {
    return Complaint{fmt::format("--geometry {}: {}", spec, *fault)};
  }
  return NamedGeometry{to_string(geometry), geometry};
}

Result<NamedGeometry, Complaint> named_geometry(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedGeometry& known : all_geometries()) {
    if (known.name == name) {
      return known;
    }
    names.push_back(known.name);
  }
  return Complaint{
      fmt::format("--geometry: no geometry is named '{}'{}; `poolproof list geometries` names them all, "
                  "or give KEY=VAL,...",
                  name, nearest_hint(name, names))};
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> set_geometry_keys(Geometry& geometry, std::string_view list) {
  std::vector<std::string_view> parts = split(list, ',');
  // The page size comes first, since sizes may be told in pages.
  std::stable_partition(parts.begin(), parts.end(), [](std::string_view part) { return part.starts_with("page="); });
  std::vector<std::string_view> keys;
  for (const std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return fmt::format("'{}' is not KEY=VAL", part);
    }
    const std::string_view key = part.substr(0, equals);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return fmt::format("'{}' is given twice", key);
    }
    keys.push_back(key);
    if (std::optional<std::string> fault = set_geometry_key(geometry, key, part.substr(equals + 1))) {
      return fault;
    }
  }
  return geometry_fault(geometry);
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& known) {
  const std::string wanted = lower(name);
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    const std::string folded = lower(candidate);
    // The beginning of a name is as near as one wrong letter.
    const bool begins = !wanted.empty() && folded.starts_with(wanted);
    const std::size_t distance = begins ? 1 : edit_distance(wanted, folded);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  const std::size_t near = std::max<std::size_t>(2, name.size() / 3);
  return best_distance <= near ? fmt::format(" (did you mean '{}'?)", best) : std::string();
}

const ExternalImpl* PickedImpls::external(const ImplInfo* impl) const {
  const auto found = std::find_if(externals.begin(), externals.end(),
                                  [&](const std::unique_ptr<ExternalImpl>& one) { return &one->info == impl; });
  return found == externals.end() ? nullptr : found->get();
}

Result<PickedImpls, Complaint> pick_impls(const std::vector<std::string>& names, const ImplOptions& options) {
  PickedImpls picked;
  for (const std::string& name : names) {
    if (is_set(name)) {
      add_set(picked.impls, name);
    } else if (name.starts_with(external_prefix)) {
      if (std::optional<Complaint> complaint = add_external(picked, name, options)) {
        return *std::move(complaint);
      }
    } else if (const ImplInfo* impl = find_impl(name)) {
      add_once(picked.impls, impl);
    } else {
      return Complaint{
          fmt::format("--impl: no implementation is named '{}'{}; `poolproof list impls` names them all, "
                      "and exec:'COMMAND' runs one of your own",
                      name, nearest_hint(name, impl_names()))};
    }
  }
  if (auto complaint = isolate(picked, options)) {
    return *std::move(complaint);
  }
  return picked;
}

Result<PickedGeometries, Complaint> pick_geometries(const std::vector<std::string>& specs) {
  PickedGeometries picked;
  std::size_t pins = 0;
  for (const std::string& spec : specs) {
    const bool pin = spec.find('=') != std::string::npos;
    pins += pin ? 1 : 0;
    Result<NamedGeometry, Complaint> geometry = pin ? pinned_geometry(spec) : named_geometry(spec);
    if (!geometry) {
      return geometry.error();
    }
    picked.geometries.push_back(std::move(geometry).value());
  }
  if (pins != 0 && pins != specs.size()) {
    return Complaint{"--geometry: names are varied and KEY=VAL is not; give one sort or the other, in two runs"};
  }
  picked.vary = pins == 0;
  return picked;
}

Result<std::uint64_t, Complaint> pick_seed(const std::string& flag) {
  const char* from_environment = environment("POOLPROOF_SEED");
  const std::string text = !flag.empty() ? flag : (from_environment != nullptr ? from_environment : "1");
  if (text == "random") {
    std::random_device device;
    return std::uint64_t{device()};
  }
  if (const std::optional<std::uint64_t> seed = number<std::uint64_t>(text)) {
    return *seed;
  }
  return Complaint{fmt::format("{}: '{}' is no seed; give a whole number from 0 to 18446744073709551615, or 'random'",
                               flag.empty() ? "POOLPROOF_SEED" : "--seed", text)};
}

}  // namespace poolproof::cli
