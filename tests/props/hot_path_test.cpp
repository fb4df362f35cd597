// The hot path allocates nothing once warm, and the machine beside a pool of production size stays small.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "impl/registry.hpp"
#include "props/lockstep.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// The global allocation functions count; the sanitizers bring their own.
#if !defined(POOLPROOF_SANITIZED)
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace poolproof {
namespace {

/// One round of everything that production does between censuses; it ends as it began.
std::vector<Op> round(const Geometry& g) {
  std::vector<Op> ops{op::SlotTake{0}, op::SlotTake{1}};
  ops.emplace_back(op::Extend{{{0, {0, 3 * g.page}}, {1, {0, g.page + 1}}}});
  ops.emplace_back(op::Write{0, {0, 3 * g.page}});
  ops.emplace_back(op::Decode{{0, 1}});
  ops.emplace_back(op::Write{0, {3 * g.page, 3 * g.page + 1}});
  ops.emplace_back(op::Read{0, {2 * g.page, 3 * g.page + 1}});
  ops.emplace_back(op::Copy{2, {0, 2 * g.page}, 0});
  ops.emplace_back(op::Drop{2, {0, 2 * g.page}});
  if (g.sliding()) {
    ops.emplace_back(op::Free{Side::swa, {{0, {0, g.page}}}});
  }
  ops.emplace_back(op::GroupBegin{});
  ops.emplace_back(op::FreeSegment{Side::both, 1, {{0, g.page + 2}}});
  const Pos first = g.layout == Layout::pure_swa ? g.page : 0;
  ops.emplace_back(op::Free{Side::both, {{0, {first, 3 * g.page + 1}}}});
  ops.emplace_back(op::GroupEnd{});
  ops.emplace_back(op::SlotGive{1});
  ops.emplace_back(op::SlotGive{0});
  return ops;
}

const std::vector<Geometry>& pools() {
  static const std::vector<Geometry> all{
      {.layout = Layout::token, .page = 1, .full = 16, .reqs = 2},
      {.layout = Layout::paged, .page = 4, .full = 64, .reqs = 2},
      {.layout = Layout::paged, .page = 4, .full = 64, .reqs = 2, .need_sort = true},
      {.layout = Layout::hybrid, .page = 1, .full = 16, .swa = 16, .window = 2, .reqs = 2},
      {.layout = Layout::hybrid, .page = 16, .full = 256, .swa = 256, .window = 16, .reqs = 2},
      {.layout = Layout::hybrid, .page = 4, .full = 64, .swa = 64, .ring = 8, .window = 4, .reqs = 2},
      {.layout = Layout::pure_swa, .page = 1, .full = 16, .window = 2, .reqs = 2},
  };
  return all;
}

TEST(HotPath, AllocatesNothingOnceWarm) {
#if defined(POOLPROOF_SANITIZED)
  GTEST_SKIP() << "skipped: the sanitizer has its own allocation functions";
#endif
  for (const Geometry& geometry : pools()) {
    SCOPED_TRACE(to_string(geometry));
    auto allocator = find_impl("host")->make(geometry);
    ASSERT_TRUE(allocator);
    Machine machine(geometry);
    Lockstep lockstep(machine, **allocator);
    ASSERT_FALSE(lockstep.start());
    const std::vector<Op> ops = round(geometry);
    const auto go_round = [&] {
      for (const Op& op : ops) {
        const auto verdict = lockstep.step(op);
        ASSERT_FALSE(verdict) << op_word_name(word_of(op)) << ": " << verdict->what;
      }
    };
    go_round();
    go_round();
    const std::uint64_t before = allocations.load();
    for (int i = 0; i < 50; ++i) {
      go_round();
    }
    EXPECT_EQ(allocations.load(), before);
    EXPECT_GT(before, 0U) << "the count is not wired";
  }
}

TEST(HotPath, AProductionPoolTakesLessThan40BytesAToken) {
#if defined(POOLPROOF_SANITIZED)
  GTEST_SKIP() << "skipped: the sanitizer keeps memory of its own";
#endif
  constexpr Tokens tokens = 44'482'560;
  const Geometry geometry{
      .layout = Layout::hybrid, .page = 256, .full = tokens, .swa = tokens, .window = 128, .reqs = 8};
  // All that is asked of the system counts, touched or not.
  const auto used = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = used();
  auto allocator = find_impl("host")->make(geometry);
  ASSERT_TRUE(allocator);
  Machine machine(geometry);
  Lockstep lockstep(machine, **allocator);
  ASSERT_FALSE(lockstep.start());
  for (const Op& op : round(geometry)) {
    ASSERT_FALSE(lockstep.step(op));
  }
  const double bytes_per_token = static_cast<double>(used() - before) / static_cast<double>(tokens);
  EXPECT_LT(bytes_per_token, 40.0);
  EXPECT_GT(bytes_per_token, 8.0) << "the measure does not see the pools";
  RecordProperty("bytes_per_token", std::to_string(bytes_per_token));
}

}  // namespace
}  // namespace poolproof
