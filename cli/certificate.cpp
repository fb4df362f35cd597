#include "cli/certificate.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/version.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning, or states are told apart in another way.
constexpr int format = 1;
constexpr const char* format_key = "poolproof_certificate";

std::string hex(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::optional<std::uint64_t> from_hex(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return text.size() == 16 && error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                                       : std::nullopt;
}

}  // namespace

Certificate certificate_of(const std::string& impl, const Scope& scope, const ExploreResult& result) {
  Certificate certificate;
  certificate.version = version();
  certificate.impl = impl;
  certificate.scope = scope;
  certificate.exhausted = result.end == ExploreEnd::exhausted;
  certificate.depth = result.depth;
  certificate.layers = result.layers;
  certificate.moves = result.moves;
  certificate.states = result.states;
  certificate.transitions = result.transitions;
  certificate.refused = result.refused;
  certificate.sequences = result.sequences;
  certificate.sequences_overflow = result.sequences_overflow;
  certificate.digest = result.digest;
  return certificate;
}

std::string to_json(const Certificate& certificate) {
  Json json{{format_key, format},
            {"version", certificate.version},
            {"impl", certificate.impl},
            {"scope", to_string(certificate.scope)},
            {"scope_name", certificate.scope.name},
            {"ops", certificate.moves},
            {"exhausted", certificate.exhausted},
            {"depth", certificate.depth},
            {"states", certificate.states},
            {"transitions", certificate.transitions},
            {"refused", certificate.refused},
            {"sequences_at_least", certificate.sequences},
            {"sequences_overflow", certificate.sequences_overflow},
            {"states_by_depth", certificate.layers},
            {"digest", hex(certificate.digest)}};
  return json.dump(2) + "\n";
}

Result<Certificate, std::string> certificate_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains(format_key)) {
    return std::string("this is no certificate of `poolproof explore`; --certificates writes them");
  }
  if (json[format_key] != format) {
    return fmt::format("certificates of format {} are not known here, {} is; take the poolproof that wrote it",
                       json[format_key].dump(), format);
  }
  Certificate certificate;
  try {
    certificate.version = json.at("version").get<std::string>();
    certificate.impl = json.at("impl").get<std::string>();
    Result<Scope, std::string> scope = scope_from(json.at("scope").get<std::string>());
    if (!scope) {
      return fmt::format("scope: {}", scope.error());
    }
    certificate.scope = std::move(scope).value();
    certificate.scope.name = json.at("scope_name").get<std::string>();
    certificate.moves = json.at("ops").get<std::uint64_t>();
    certificate.exhausted = json.at("exhausted").get<bool>();
    certificate.depth = json.at("depth").get<std::uint32_t>();
    certificate.states = json.at("states").get<std::uint64_t>();
    certificate.transitions = json.at("transitions").get<std::uint64_t>();
    certificate.refused = json.at("refused").get<std::uint64_t>();
    certificate.sequences = json.at("sequences_at_least").get<std::uint64_t>();
    certificate.sequences_overflow = json.at("sequences_overflow").get<bool>();
    certificate.layers = json.at("states_by_depth").get<std::vector<std::uint64_t>>();
    const std::optional<std::uint64_t> digest = from_hex(json.at("digest").get<std::string>());
    if (!digest) {
      return std::string("digest: it is 16 hexadecimal digits");
    }
    certificate.digest = *digest;
  } catch (const Json::exception& error) {  // a field that is missing, or of another type
    return fmt::format("a field is missing or of another kind: {}", error.what());
  }
  return certificate;
}

std::vector<std::string> differences(const Certificate& certified, const Certificate& now) {
  std::vector<std::string> lines;
  const auto compare = [&](std::string_view what, const auto& then, const auto& present) {
    if (then != present) {
      lines.push_back(fmt::format("{}: {} in the certificate, {} now", what, then, present));
    }
  };
  compare("ops", certified.moves, now.moves);
  compare("exhausted", certified.exhausted, now.exhausted);
  compare("depth", certified.depth, now.depth);
  compare("states", certified.states, now.states);
  compare("transitions", certified.transitions, now.transitions);
  compare("refused", certified.refused, now.refused);
  compare("sequences", certified.sequences, now.sequences);
  for (std::size_t i = 0; i < std::min(certified.layers.size(), now.layers.size()); ++i) {
    compare(fmt::format("states at depth {}", i), certified.layers[i], now.layers[i]);
  }
  compare("depths with states", certified.layers.size(), now.layers.size());
  compare("digest", hex(certified.digest), hex(now.digest));
  return lines;
}

double chance_of_a_missed_state(std::uint64_t states) {
  const auto count = static_cast<double>(states);
  return count * count / 2 / 18446744073709551616.0;
}

}  // namespace poolproof::cli
