// What a log showed, counted; the first of each kind are kept whole.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/log_finding.hpp"

namespace poolproof {

/// Where in the log the call at hand stands. The views live as long as the import.
struct CallPlace {
  std::string_view file;
  std::uint64_t line = 0;
  std::uint64_t n = 0;
  std::string_view call;
};

/// A finding's words.
struct Said {
  std::string what;
  std::string expected = {};
  std::string recorded = {};
};

class LogFindings {
 public:
  /// Kept of each kind.
  static constexpr std::size_t most_kept = 20;

  void add(LogFindingKind kind, std::string_view id, const CallPlace& place, OpIndex op, Said said);
  [[nodiscard]] std::uint64_t count(LogFindingKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  /// Something is wrong in the log itself, and somebody is to blame.
  [[nodiscard]] bool wrong() const {
    return count(LogFindingKind::violation) + count(LogFindingKind::caller_fault) > 0;
  }
  /// In the order of the log.
  [[nodiscard]] const std::vector<LogFinding>& kept() const { return kept_; }

 private:
  std::array<std::uint64_t, finding_kinds> counts_{};
  std::vector<LogFinding> kept_;
};

}  // namespace poolproof
