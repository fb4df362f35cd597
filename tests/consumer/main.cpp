// Has the stack allocator checked by a campaign, sound and with its planted fault. Ends with 0 when the sound one holds
// and the fault is caught for what it is.

#include <cstdio>
#include <poolproof/impl/registry.hpp>
#include <poolproof/model/trace_text.hpp>
#include <poolproof/props/campaign.hpp>
#include <string>

#include "stack_allocator.hpp"

namespace {

using consumer::Plant;
using consumer::StackAllocator;
using poolproof::Geometry;

poolproof::ImplInfo stack_impl(const std::string& name, Plant plant) {
  poolproof::ImplInfo info;
  info.name = name;
  info.supports = [](const Geometry& g) { return g.layout == poolproof::Layout::paged && !g.need_sort; };
  info.make = [plant](const Geometry& g) -> poolproof::Result<std::unique_ptr<poolproof::Allocator>, std::string> {
    return std::unique_ptr<poolproof::Allocator>(std::make_unique<StackAllocator>(g, plant));
  };
  return info;
}

poolproof::NamedGeometry paged(const std::string& name, poolproof::Tokens page) {
  Geometry geometry;
  geometry.layout = poolproof::Layout::paged;
  geometry.page = page;
  geometry.full = 12 * page;
  geometry.reqs = 4;
  return {name, geometry};
}

poolproof::CampaignReport check(const poolproof::ImplInfo& impl) {
  poolproof::CampaignOptions options;
  options.impls = {&impl};
  options.geometries = {paged("paged-p1", 1), paged("paged-p4", 4), paged("paged-p16", 16)};
  options.traces = 150;
  return poolproof::run_campaign(options);
}

bool trustworthy(const poolproof::CampaignReport& report) {
  if (!report.canary_caught) std::printf("the canary was not caught: %s\n", report.canary_says.c_str());
  return report.canary_caught && report.outcomes.size() == 1 && report.outcomes[0].could_not_run.empty();
}

bool sound_one_holds() {
  const poolproof::ImplInfo impl = stack_impl("stack", Plant::none);
  const poolproof::CampaignReport report = check(impl);
  if (!trustworthy(report)) return false;
  const poolproof::ImplOutcome& outcome = report.outcomes[0];
  if (outcome.finding) {
    const poolproof::Trace& trace = outcome.finding->shrunk.trace;
    std::printf("stack: %s\n%s", outcome.finding->shrunk.verdict.what.c_str(), poolproof::print_trace(trace).c_str());
    return false;
  }
  std::printf("stack holds: %llu ops\n", static_cast<unsigned long long>(outcome.ops));
  return outcome.ops > 0;
}

bool planted_one_is_caught() {
  const poolproof::ImplInfo impl = stack_impl("stack-keeps-pages", Plant::keeps_pages_of_refused_batch);
  const poolproof::CampaignReport report = check(impl);
  if (!trustworthy(report)) return false;
  const auto& finding = report.outcomes[0].finding;
  if (!finding) {
    std::printf("stack-keeps-pages: the planted fault was not caught\n");
    return false;
  }
  const poolproof::Cause& cause = finding->shrunk.verdict.cause;
  std::printf("stack-keeps-pages is caught by %s:\n%s", std::string(poolproof::cause_id(cause)).c_str(),
              poolproof::print_trace(finding->shrunk.trace).c_str());
  return cause == poolproof::Cause{poolproof::Invariant::all_or_nothing};
}

}  // namespace

int main() {
  const bool holds = sound_one_holds();
  const bool caught = planted_one_is_caught();
  return holds && caught ? 0 : 1;
}
