// From what the user typed to implementations, geometries and seeds; what is unknown gets the nearest name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/complaint.hpp"
#include "cli/impl_options.hpp"
#include "impl/bridge/external.hpp"
#include "impl/registry.hpp"
#include "model/result.hpp"
#include "props/generator.hpp"

namespace poolproof::cli {

/// " (did you mean 'host'?)" or, when nothing is near, the empty string.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& known);

/// Implementations of the registry, in a process of their own where that was asked for, and external ones, which are
/// started; those in processes live as long as this.
struct PickedImpls {
  std::vector<const ImplInfo*> impls;
  std::vector<std::unique_ptr<ExternalImpl>> externals;
  std::vector<std::unique_ptr<ExternalImpl>> isolated;

  /// The external one behind an entry of `impls`, or null.
  [[nodiscard]] const ExternalImpl* external(const ImplInfo* impl) const;
};

/// Names, or `mutants` (all of them), or `all` (every real implementation and every mutant), or `exec:COMMAND`. Each
/// implementation once, in the order named. Not empty. Replicas (ImplOptions::ranks) are made by who runs them.
Result<PickedImpls, Complaint> pick_impls(const std::vector<std::string>& names, const ImplOptions& options);

/// "page=4,full=8p" in its parts; at least one.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Sets the keys of a KEY=VAL,... list in a geometry; answers an error sentence or nothing.
std::optional<std::string> set_geometry_keys(Geometry& geometry, std::string_view list);

struct PickedGeometries {
  std::vector<NamedGeometry> geometries;  ///< empty: all
  bool vary = true;                       ///< named kinds are varied, KEY=VAL pins are not
};

/// Names of `list geometries`, or KEY=VAL,... lists; not both.
Result<PickedGeometries, Complaint> pick_geometries(const std::vector<std::string>& specs);

/// `flag` ("" = not given), else POOLPROOF_SEED, else 1. "random" draws one.
Result<std::uint64_t, Complaint> pick_seed(const std::string& flag);

}  // namespace poolproof::cli
