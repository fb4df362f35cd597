#include "cli/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/exit_status.hpp"

namespace poolproof::cli {
namespace {

std::string note_of(const FailureRecord& record) {
  if (!record.reproduced) {
    return "as generated; it did not fail again, so the implementation is not deterministic";
  }
  if (record.evaluations == 0) {
    return {};
  }
  return fmt::format("shrunk from {} in {} runs{}", record.original_ops, record.evaluations,
                     record.minimal ? "" : ", cut short: fewer ops may do");
}

}  // namespace

FailureView FailureRecord::view() const {
  FailureView view;
  view.impl = impl;
  view.ranks = ranks;
  view.trace = &trace;
  view.verdict = &verdict;
  view.trace_file = trace_file;
  view.note = note_of(*this);
  return view;
}

std::string_view standing_name(Standing standing) {
  switch (standing) {
    case Standing::holds:
      return "holds";
    case Standing::violated:
      return "violated";
    case Standing::could_not_run:
      return "could_not_run";
    case Standing::not_run:
      return "not_run";
  }
  return "";
}

int status_of(const std::vector<ImplRow>& rows, bool interrupted) {
  const auto any = [&](Standing standing) {
    return std::any_of(rows.begin(), rows.end(), [&](const ImplRow& row) { return row.standing == standing; });
  };
  if (any(Standing::violated)) {
    return exit_violated;
  }
  if (any(Standing::could_not_run)) {
    return exit_no_verdict;
  }
  return interrupted ? exit_interrupted : exit_holds;
}

}  // namespace poolproof::cli
