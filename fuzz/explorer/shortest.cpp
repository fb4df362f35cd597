#include "fuzz/explorer/shortest.hpp"

#include <utility>
#include <vector>

namespace poolproof {
namespace {

std::vector<Scope> make_hunting_scopes() {
  std::vector<Scope> scopes;
  const auto add = [&](const char* name, const char* text) {
    scopes.push_back(scope_from(text).value());
    scopes.back().name = name;
  };
  add("token", "layout=token,full=2,reqs=2,rows=2,positions=2");
  add("token-sort", "layout=token,full=3,reqs=1,need_sort=1,rows=2,positions=3");
  add("paged", "layout=paged,page=2,full=2p,reqs=2,rows=2,positions=4");
  add("paged-sort", "layout=paged,page=2,full=3p,reqs=1,need_sort=1,rows=2,positions=4");
  add("hybrid", "layout=hybrid,page=1,full=2,swa=2,window=1,reqs=2,rows=2,positions=2");
  add("hybrid-sort", "layout=hybrid,page=1,full=3,swa=2,window=1,reqs=1,need_sort=1,rows=2,positions=2");
  add("hybrid-pages", "layout=hybrid,page=2,full=2p,swa=2p,window=2,reqs=1,rows=2,positions=4");
  add("hybrid-pages-sort", "layout=hybrid,page=2,full=3p,swa=2p,window=2,reqs=1,need_sort=1,rows=2,positions=4");
  add("ring", "layout=hybrid,page=1,full=2,swa=2,ring=2,window=1,reqs=2,rows=2,positions=3");
  add("ring-pages", "layout=hybrid,page=2,full=2p,swa=2p,ring=3,window=2,reqs=2,rows=2,positions=4");
  add("pure-swa", "layout=pure_swa,full=2,window=1,reqs=2,rows=2,positions=2");
  return scopes;
}

}  // namespace

std::span<const Scope> hunting_scopes() {
  static const std::vector<Scope> scopes = make_hunting_scopes();
  return scopes;
}

Shortest shortest_trace(const ImplInfo& impl, std::span<const Scope> scopes, const ShortestOptions& options) {
  Shortest best;
  for (Scope scope : scopes) {
    if (!impl.supports(scope.geometry) || (options.stop && options.stop())) {
      continue;
    }
    if (best.verdict) {
      if (best.trace.ops.size() < 2) {
        break;
      }
      scope.depth = static_cast<std::uint32_t>(best.trace.ops.size()) - 1;  // only what is shorter
    }
    ExploreOptions explore_options;
    explore_options.threads = options.threads;
    explore_options.most_states = options.most_states;
    explore_options.stop = options.stop;
    ExploreResult result = explore(scope, impl, explore_options);
    best.scopes += result.end == ExploreEnd::could_not_run ? 0 : 1;
    if (result.end == ExploreEnd::violated) {
      best.verdict = std::move(result.verdict);
      best.trace = std::move(result.trace);
      best.scope = scope.name;
    }
  }
  return best;
}

}  // namespace poolproof
