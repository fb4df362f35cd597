#include "props/testing.hpp"

#include <fmt/format.h>

#include <ostream>

#include "impl/bridge/external.hpp"
#include "impl/ranks.hpp"
#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "props/report.hpp"

namespace poolproof {

TraceOutcome holds(std::string_view impl_name, std::string_view trace_text, std::uint32_t ranks) {
  if (impl_name.starts_with(external_prefix)) {
    const Result<ExternalImpl, std::string> external = open_external(std::string(impl_name));
    if (!external) {
      return {false, fmt::format("{} could not be run: {}", impl_name, external.error()), {}};
    }
    return holds(external->info, trace_text, ranks);
  }
  const ImplInfo* impl = find_impl(impl_name);
  if (impl == nullptr) {
    return {
        false, fmt::format("no implementation is named '{}'; `poolproof list impls` names them all", impl_name), {}};
  }
  return holds(*impl, trace_text, ranks);
}

TraceOutcome holds(const ImplInfo& impl, std::string_view trace_text, std::uint32_t ranks) {
  const ImplInfo ranked = with_ranks(impl, ranks);
  const Result<Trace, TextError> trace = parse_trace(trace_text, "trace");
  if (!trace) {
    return {false, trace.error().render(), {}};
  }
  RunResult run = run_trace(*trace, ranked, {.census_every = 1});
  if (!run.build_error.empty()) {
    return {false, fmt::format("{} cannot be built for this pool: {}", impl.name, run.build_error), {}};
  }
  if (!run.verdict) {
    return {true, {}, {}};
  }
  FailureView view;
  view.impl = impl.name;
  view.trace = &trace.value();
  view.verdict = &*run.verdict;
  view.ranks = ranked.ranks;
  view.snippet = false;
  std::string explanation = "\n" + explain_failure(view, false);
  return {false, std::move(explanation), std::move(run.verdict)};
}

std::ostream& operator<<(std::ostream& out, const TraceOutcome& outcome) {
  return out << (outcome.ok ? "holds" : outcome.explanation);
}

}  // namespace poolproof
