// The yardstick of the shrinker: the explorer finds every planted fault that a pool without memory can show, and what
// `check` shrinks is as short as what the explorer finds.
#include "props/zoo/zoo.hpp"

#include <gtest/gtest.h>

#include "fuzz/explorer/shortest.hpp"
#include "impl/ranks.hpp"

namespace poolproof {
namespace {

TEST(Shrinking, ReachesTheShortestTraces) {
  ZooOptions options;
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant && !impl.memory) {
      options.impls.push_back(&impl);
    }
  }
  options.engines = {ZooEngine::check, ZooEngine::explorer};
  options.seeds = 3;
  options.shortest = [](const ImplInfo& impl) {
    Shortest found = shortest_trace(with_ranks(impl, 1), hunting_scopes(), {.threads = 2});
    return ZooShortest{found.scopes, std::move(found.verdict), found.trace.ops.size()};
  };
  const std::vector<ZooRow> rows = run_zoo(options);
  ASSERT_GE(rows.size(), 45U);
  std::size_t reached = 0;
  for (const ZooRow& row : rows) {
    EXPECT_EQ(row.cell(ZooEngine::explorer).caught, 1U) << row.impl->name;
    EXPECT_TRUE(row.unexpected.empty()) << row.impl->name << ": " << row.unexpected.front();
    ASSERT_TRUE(row.above_optimum()) << row.impl->name;
    EXPECT_LE(*row.above_optimum(), 2) << row.impl->name;
    reached += *row.above_optimum() <= 0 ? 1 : 0;
  }
  EXPECT_GE(reached * 10, rows.size() * 9);
}

}  // namespace
}  // namespace poolproof
