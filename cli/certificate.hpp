// A certificate: what an exploration without a finding covered, as a file that anyone can have run again
// (docs/explorer.md says what it means). It names no machine and no time: two runs of one version write the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/explorer/explorer.hpp"
#include "model/result.hpp"

namespace poolproof::cli {

struct Certificate {
  std::string version;  ///< of poolproof
  std::string impl;
  Scope scope;
  bool exhausted = false;  ///< sequences of any length; else of up to `depth` ops
  std::uint32_t depth = 0;
  std::vector<std::uint64_t> layers;
  std::uint64_t moves = 0;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t refused = 0;
  std::uint64_t sequences = 0;
  bool sequences_overflow = false;
  std::uint64_t digest = 0;
};

/// Of a result that ended with `exhausted` or `depth`.
Certificate certificate_of(const std::string& impl, const Scope& scope, const ExploreResult& result);

std::string to_json(const Certificate& certificate);
/// An error sentence where the text is no certificate.
Result<Certificate, std::string> certificate_from(std::string_view text);

/// What differs, a line each: "states: 54271 in the certificate, 54270 now". The version is no part of it.
std::vector<std::string> differences(const Certificate& certified, const Certificate& now);

/// How likely it is at most that two states of the run had one digest, so that one of them was not extended.
double chance_of_a_missed_state(std::uint64_t states);

}  // namespace poolproof::cli
