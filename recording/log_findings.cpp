#include "recording/log_findings.hpp"

#include <utility>

namespace poolproof {

void LogFindings::add(LogFindingKind kind, std::string_view id, const CallPlace& place, OpIndex op, Said said) {
  if (++counts_[static_cast<std::size_t>(kind)] > most_kept) {
    return;
  }
  kept_.push_back({kind, std::string(id), std::string(place.file), place.line, place.n, std::string(place.call), op,
                   std::move(said.what), std::move(said.expected), std::move(said.recorded)});
}

}  // namespace poolproof
