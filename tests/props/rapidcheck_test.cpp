// The same properties with rapidcheck as the source of choices: it draws the tapes that the generator reads.
//
// Its own shrinking is off: a tape that is shortened or lowered is another trace altogether, while our shrinker keeps
// the protocol and the broken invariant. A falsified property therefore prints the trace as our shrinker leaves it.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "impl/registry.hpp"
#include "model/trace_text.hpp"
#include "props/generator.hpp"
#include "props/lockstep.hpp"
#include "props/report.hpp"
#include "props/shrink.hpp"

namespace poolproof {
namespace {

constexpr std::size_t ops_per_trace = 60;

rc::Gen<std::vector<std::uint64_t>> tapes() {
  return rc::gen::noShrink(rc::gen::container<std::vector<std::uint64_t>>(1200, rc::gen::arbitrary<std::uint64_t>()));
}

/// A trace from a tape: the geometry is drawn from the named ones, then varied.
Trace trace_of(const std::vector<std::uint64_t>& tape) {
  TapeChoices choices(tape);
  const auto& named = named_geometries();
  const Geometry geometry = vary_geometry(named[choices.draw(named.size())].geometry, choices);
  return generate(geometry, choices, ops_per_trace);
}

std::string explain(const Trace& trace, const ImplInfo& impl, const Verdict& verdict) {
  const auto shrunk = shrink(trace, impl, verdict.cause);
  FailureView view;
  view.impl = impl.name;
  view.trace = shrunk ? &shrunk->trace : &trace;
  view.verdict = shrunk ? &shrunk->verdict : &verdict;
  return explain_failure(view, false);
}

bool check(const std::string& name, const std::function<void()>& property) { return rc::check(name, property); }

TEST(Rapidcheck, HostHoldsOnEveryTape) {
  EXPECT_TRUE(check("host holds on every generated trace", [] {
    const Trace trace = trace_of(*tapes());
    const ImplInfo& host = *find_impl("host");
    const RunResult result = run_and_pin(trace, host);
    if (result.verdict) {
      RC_FAIL(explain(trace, host, *result.verdict));
    }
  }));
}

TEST(Rapidcheck, GeneratedTracesSurviveTheTextTheyArePrintedAs) {
  EXPECT_TRUE(check("parse(print(trace)) is the trace", [] {
    const Trace trace = trace_of(*tapes());
    const std::string text = print_trace(trace);
    const auto parsed = parse_trace(text, "property");
    RC_ASSERT(parsed.ok());
    RC_ASSERT(parsed->geometry == trace.geometry);
    RC_ASSERT(parsed->ops == trace.ops);
    RC_ASSERT(print_trace(*parsed) == text);
  }));
}

TEST(Rapidcheck, AnySubsetOfATraceStillMeansSomething) {
  EXPECT_TRUE(check("a mended subset of a trace holds on host", [] {
    Trace trace = trace_of(*tapes());
    const auto kept =
        *rc::gen::noShrink(rc::gen::container<std::vector<bool>>(trace.ops.size(), rc::gen::arbitrary<bool>()));
    Trace subset{trace.geometry, {}, {}};
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
      if (kept[i] && !std::holds_alternative<op::Expect>(trace.ops[i])) {
        subset.ops.push_back(trace.ops[i]);
      }
    }
    const ImplInfo& host = *find_impl("host");
    const RunResult result = run_trace(subset, host, {.census_every = 1, .repair = true});
    if (result.verdict) {
      RC_FAIL(explain(subset, host, *result.verdict));
    }
    const Trace mended{trace.geometry, result.executed, {}};
    RC_ASSERT(!run_and_pin(mended, host).verdict);
  }));
}

TEST(Rapidcheck, AMutantIsFalsified) {
  // The property can fail: the same property on a broken copy does.
  int failures = 0;
  const ImplInfo& mutant = *find_impl("B46");
  check("B46 fails on some tape", [&] {
    const Trace trace = trace_of(*tapes());
    failures += mutant.supports(trace.geometry) && run_and_pin(trace, mutant).verdict ? 1 : 0;
  });
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace poolproof
