#include "props/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "props/shadow.hpp"
#include "props/swarm.hpp"
#include "tests/props/run_generator.hpp"

namespace poolproof {
namespace {

std::uint64_t stream_of(std::uint64_t geometry, std::uint64_t trace) { return geometry * 1000 + trace; }

TEST(NamedGeometries, AreValidDistinctAndComplete) {
  std::set<std::string> names;
  for (const NamedGeometry& named : named_geometries()) {
    EXPECT_EQ(geometry_fault(named.geometry), std::nullopt) << named.name;
    EXPECT_TRUE(names.insert(named.name).second) << named.name << " stands twice";
  }
  for (const char* name : {"token", "token-sort", "paged-p1", "paged-p4", "paged-p256-sort", "hybrid-p1",
                           "hybrid-p1-ring", "hybrid-p2-sort", "hybrid-p4", "hybrid-p16-ring-sort", "hybrid-p64-ring",
                           "hybrid-p256-ring-sort", "pure_swa", "pure_swa-sort"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), 40U);
}

TEST(VaryGeometry, KeepsTheKindAndStaysValid) {
  for (const NamedGeometry& named : named_geometries()) {
    std::set<Tokens> sizes;
    bool swa_smaller = false;
    bool swa_larger = false;
    for (std::uint64_t stream = 0; stream < 60; ++stream) {
      RandomChoices choices(1, stream);
      const Geometry g = vary_geometry(named.geometry, choices);
      ASSERT_EQ(geometry_fault(g), std::nullopt) << named.name << ": " << to_string(g);
      EXPECT_EQ(g.layout, named.geometry.layout);
      EXPECT_EQ(g.page, named.geometry.page);
      EXPECT_EQ(g.ringed(), named.geometry.ringed());
      EXPECT_EQ(g.need_sort, named.geometry.need_sort);
      EXPECT_GE(g.reqs, 1);
      sizes.insert(g.full);
      swa_smaller = swa_smaller || g.swa < g.full;
      swa_larger = swa_larger || g.swa > g.full;
    }
    EXPECT_GT(sizes.size(), 8U) << named.name;
    EXPECT_EQ(swa_larger, named.geometry.hybrid()) << named.name;
    EXPECT_TRUE(swa_smaller) << named.name;
  }
}

TEST(VaryGeometry, AnEmptyTapeIsAValidGeometry) {
  for (const NamedGeometry& named : named_geometries()) {
    TapeChoices empty({});
    EXPECT_EQ(geometry_fault(vary_geometry(named.geometry, empty)), std::nullopt) << named.name;
  }
}

/// Every op is admitted and holds on the host twin.
TEST(Generator, FollowsTheProtocolOnEveryGeometry) {
  std::uint64_t number = 0;
  for (const NamedGeometry& named : named_geometries()) {
    ++number;
    for (std::uint64_t trace = 0; trace < 25; ++trace) {
      RandomChoices choices(11, stream_of(number, trace));
      const Geometry g = vary_geometry(named.geometry, choices);
      Coverage coverage;
      const GeneratedRun run = run_generated(g, choices, 120, coverage);
      ASSERT_EQ(run.fault, "") << named.name << " trace " << trace;
    }
  }
}

TEST(Generator, TheSameChoicesGiveTheSameTrace) {
  for (const NamedGeometry& named : named_geometries()) {
    RandomChoices first(3, 1);
    RandomChoices second(3, 1);
    RandomChoices other(4, 1);
    const std::string text = print_trace(generate(named.geometry, first, 80));
    EXPECT_EQ(text, print_trace(generate(named.geometry, second, 80))) << named.name;
    EXPECT_NE(text, print_trace(generate(named.geometry, other, 80))) << named.name;
  }
}

/// need_sort changes which page comes next, and nothing that a generator may look at.
TEST(Generator, PageChoicesDoNotChangeTheTrace) {
  for (const NamedGeometry& named : named_geometries()) {
    Geometry sorted = named.geometry;
    sorted.need_sort = !sorted.need_sort;
    RandomChoices first(8, 2);
    RandomChoices second(8, 2);
    EXPECT_EQ(generate(named.geometry, first, 120).ops, generate(sorted, second, 120).ops) << named.name;
  }
}

TEST(Generator, GeneratesAsManyOpsAsAsked) {
  for (const NamedGeometry& named : named_geometries()) {
    RandomChoices choices(9, 9);
    EXPECT_EQ(generate(named.geometry, choices, 150).ops.size(), 150U) << named.name;
  }
}

TEST(Generator, AnEmptyTapeFillsDrainsAndEnds) {
  for (const NamedGeometry& named : named_geometries()) {
    TapeChoices empty({});
    const Trace trace = generate(named.geometry, empty, 200);
    ASSERT_EQ(trace.ops.size(), 200U) << named.name;
    const auto count = [&](OpWord word) {
      return std::count_if(trace.ops.begin(), trace.ops.end(), [&](const Op& op) { return word_of(op) == word; });
    };
    EXPECT_GT(count(OpWord::extend) + count(OpWord::alloc), 20) << named.name;
    EXPECT_GT(count(OpWord::free), 0) << named.name;
    EXPECT_LT(count(OpWord::expect), 20) << named.name;
  }
}

TEST(Generator, AnyTapeIsAValidTrace) {
  std::uint64_t number = 0;
  for (const NamedGeometry& named : named_geometries()) {
    for (std::uint64_t trace = 0; trace < 6; ++trace) {
      RandomChoices source(21, stream_of(++number, trace));
      std::vector<std::uint64_t> tape;
      const std::uint64_t length = source.draw(600);
      for (std::uint64_t i = 0; i < length; ++i) {
        tape.push_back(source.draw(4) == 0 ? source.draw(~std::uint64_t{0}) : source.draw(256));
      }
      TapeChoices choices(std::move(tape));
      Coverage coverage;
      const Geometry g = vary_geometry(named.geometry, choices);
      const GeneratedRun run = run_generated(g, choices, 100, coverage);
      ASSERT_EQ(run.fault, "") << named.name << " tape " << trace;
    }
  }
}

TEST(Generator, PoolsAreExhaustedAndOpsRefused) {
  for (const NamedGeometry& named : named_geometries()) {
    Coverage coverage;
    for (std::uint64_t trace = 0; trace < 30; ++trace) {
      RandomChoices choices(5, trace);
      const Geometry g = vary_geometry(named.geometry, choices);
      ASSERT_EQ(run_generated(g, choices, 120, coverage).fault, "") << named.name;
    }
    EXPECT_GT(coverage.corner(Corner::full_exhausted), 10U) << named.name;
    EXPECT_GT(coverage.refused(OpWord::extend), 30U) << named.name;
    EXPECT_GT(coverage.served(OpWord::extend), 4 * coverage.refused(OpWord::extend) / 3) << named.name;
    EXPECT_GT(coverage.corner(Corner::one_over), 3U) << named.name;
  }
}

/// The generator says `expect` when nothing else can be said; that must stay the exception.
TEST(Generator, HardlyEverHasNothingToSay) {
  for (const NamedGeometry& named : named_geometries()) {
    Coverage coverage;
    for (std::uint64_t trace = 0; trace < 30; ++trace) {
      RandomChoices choices(6, trace);
      const Geometry g = vary_geometry(named.geometry, choices);
      ASSERT_EQ(run_generated(g, choices, 120, coverage).fault, "") << named.name;
    }
    EXPECT_LT(coverage.served(OpWord::expect), coverage.ops() / 16) << named.name;
  }
}

TEST(Swarm, TracesDifferInTheirWordsAndSomeHaveAll) {
  const auto& all = named_geometries();
  const Geometry g =
      std::find_if(all.begin(), all.end(), [](const NamedGeometry& one) { return one.name == "hybrid-p4"; })->geometry;
  std::set<WordWeights> seen;
  bool all_words = false;
  for (std::uint64_t stream = 0; stream < 100; ++stream) {
    RandomChoices choices(1, stream);
    const Swarm swarm = draw_swarm(g, choices);
    seen.insert(swarm.weights);
    std::size_t words = 0;
    for (std::size_t i = 0; i < op_word_count; ++i) {
      const bool offered = word_offered(static_cast<OpWord>(i), g);
      EXPECT_TRUE(offered || swarm.weights.at(i) == 0);
      words += swarm.weights.at(i) > 0 || !offered ? 1 : 0;
    }
    all_words = all_words || words == op_word_count;
    EXPECT_GT(swarm.weights.at(static_cast<std::size_t>(OpWord::extend)), 0U);
    EXPECT_GT(swarm.weights.at(static_cast<std::size_t>(OpWord::free)), 0U);
  }
  EXPECT_GT(seen.size(), 70U) << "each profile has one swarm with all words; the others hardly ever meet";
  EXPECT_TRUE(all_words);
}

/// What the generator remembers agrees with what the machine says.
TEST(Shadow, AgreesWithTheMachine) {
  std::uint64_t number = 0;
  for (const NamedGeometry& named : named_geometries()) {
    ++number;
    for (std::uint64_t trace = 0; trace < 8; ++trace) {
      RandomChoices choices(31, stream_of(number, trace));
      const Geometry g = vary_geometry(named.geometry, choices);
      Shadow shadow(g);
      Coverage coverage;
      const GeneratedRun run =
          run_generated(g, choices, 120, coverage, std::nullopt, [&](const Op& op, const Machine& machine, bool) {
            shadow.apply(op, machine);
            for (Row row = 0; row < 12; ++row) {
              ASSERT_EQ(shadow.row(row).length, machine.row_length(row)) << print_op(op, g);
              ASSERT_EQ(shadow.row(row).slot, machine.row_has_slot(row)) << print_op(op, g);
              for (std::int64_t index = 0; index < shadow.row_pages(row); ++index) {
                const PageId page = shadow.page_id(row, index);
                const Pos first = index * g.page;
                ASSERT_EQ(page != 0, machine.row_live(row, first)) << print_op(op, g);
                if (page != 0) {
                  ASSERT_EQ(shadow.memo(page).holders, machine.row_holders(row, first)) << print_op(op, g);
                }
              }
            }
          });
      ASSERT_EQ(run.fault, "") << named.name;
    }
  }
}

}  // namespace
}  // namespace poolproof
