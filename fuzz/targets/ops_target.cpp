#include "fuzz/targets/ops_target.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "model/trace_text.hpp"
#include "props/report.hpp"

namespace poolproof {
namespace {

/// libFuzzer reads this section beside its own counters: a state that was not reached before is news, as an edge is.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t reached_features[feature_limit];

void note(const StateFeatures::Reached& reached) {
  for (const std::uint32_t feature : reached) {
    reached_features[feature] = 1;
  }
}

void write_trace(const char* path, const Trace& trace) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "POOLPROOF_FUZZ_PRINT=%s: the file cannot be written; name another\n", path);
    std::exit(2);
  }
  const std::string text = print_trace(trace);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

void say(const Trace& trace, const Verdict& verdict, const ImplInfo& impl, const char* path) {
  FailureView view;
  view.impl = impl.name;
  view.trace = &trace;
  view.verdict = &verdict;
  view.trace_file = path != nullptr ? path : "";
  std::fputs(explain_failure(view, false).c_str(), stderr);
  if (path == nullptr) {
    std::fprintf(stderr, "The trace (POOLPROOF_FUZZ_PRINT=FILE writes it):\n%s", print_trace(trace).c_str());
  }
}

}  // namespace

void run_ops_input(OpsRunner& runner, const ImplInfo& impl, std::span<const std::uint8_t> input) {
  static const char* const path = std::getenv("POOLPROOF_FUZZ_PRINT");
  const std::optional<Verdict> verdict = runner.run(input, note);
  if (!verdict && path == nullptr) {
    return;
  }
  const Trace trace = runner.trace_of(input);
  if (path != nullptr) {
    write_trace(path, trace);
  }
  if (verdict) {
    say(trace, *verdict, impl, path);
    std::abort();
  }
}

const ImplInfo& fuzzed_impl() {
  const char* name = std::getenv("POOLPROOF_FUZZ_IMPL");
  const ImplInfo* impl = find_impl(name != nullptr ? name : "host");
  if (impl == nullptr) {
    std::fprintf(stderr,
                 "POOLPROOF_FUZZ_IMPL: no implementation is named '%s'; `poolproof list impls` names them all\n", name);
    std::exit(2);
  }
  return *impl;
}

}  // namespace poolproof
