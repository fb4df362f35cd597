// What a storage's pieces owe the twins, held against each storage; and that every twin and mutant keeps its state on
// the storage that it is given.
#include "impl/host/storage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "impl/on_storage.hpp"
#include "tests/impl/twin.hpp"
#include "tests/impl/watched_storage.hpp"

namespace poolproof::testing {
namespace {

struct NamedStorage {
  std::string name;
  std::function<std::shared_ptr<const Storage>()> open;
};

std::vector<NamedStorage> storages() {
  return {{"host", host_storage},
          {"watched", [] { return std::make_shared<WatchedStorage>(std::make_shared<StorageWatch>()); }}};
}

class Pieces : public ::testing::TestWithParam<NamedStorage> {
 protected:
  std::shared_ptr<const Storage> storage_ = GetParam().open();
};

INSTANTIATE_TEST_SUITE_P(Storages, Pieces, ::testing::ValuesIn(storages()),
                         [](const ::testing::TestParamInfo<NamedStorage>& info) { return info.param.name; });

Locs translated(const Mapping& mapping, const Locs& full) {
  Locs out(full.size(), -7);
  mapping.translate(full, out);
  return out;
}

std::vector<Page> free_list(const PagePool& pool) { return pool.lists().free; }

TEST_P(Pieces, APoolLendsFromTheFrontAndTakesBackInFront) {
  const auto pool = storage_->page_pool(16, 4, false);
  EXPECT_EQ(free_list(*pool), (std::vector<Page>{4, 3, 2, 1}));
  ASSERT_TRUE(pool->make_room(2));
  Locs locs(6);
  pool->lend(locs);
  EXPECT_EQ(locs, (Locs{4, 5, 6, 7, 8, 9}));
  pool->release(std::vector<Page>{2, 1});
  EXPECT_EQ(free_list(*pool), (std::vector<Page>{4, 3, 1, 2}));
  EXPECT_EQ(pool->free_pages(), 4);
  EXPECT_EQ(pool->available(), 16);
  EXPECT_FALSE(pool->make_room(5));
}

TEST_P(Pieces, APoolLendsABatchInOrder) {
  const auto pool = storage_->page_pool(32, 4, false);
  Locs locs(9);
  pool->lend_extend(std::vector<Pos>{2, 0}, std::vector<Pos>{9, 2}, std::vector<Loc>{29, -1}, locs);
  EXPECT_EQ(locs, (Locs{30, 31, 4, 5, 6, 7, 8, 12, 13}));
  Locs decoded(2);
  pool->lend_decode(std::vector<Pos>{5, 6}, std::vector<Loc>{7, 20}, decoded);
  EXPECT_EQ(decoded, (Locs{16, 21}));
}

TEST_P(Pieces, APoolStagesAndMerges) {
  const auto pool = storage_->page_pool(4, 1, true);
  Locs locs(3);
  pool->lend(locs);
  pool->release(std::vector<Page>{3, 1});
  EXPECT_EQ(pool->free_pages(), 1);
  EXPECT_EQ(pool->staged_pages(), 2);
  PoolCensus seen;
  pool->census(seen);
  EXPECT_EQ(seen.free, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(seen.staged, (std::vector<std::int64_t>{3, 1}));
  ASSERT_TRUE(pool->make_room(2));
  EXPECT_EQ(free_list(*pool), (std::vector<Page>{4, 3, 1}));
  EXPECT_EQ(pool->staged_pages(), 0);
}

TEST_P(Pieces, APoolTakesListsAsTheyAre) {
  const auto pool = storage_->page_pool(4, 1, true);
  pool->set_lists({{2, 2, 0}, {7}});
  EXPECT_EQ(free_list(*pool), (std::vector<Page>{2, 2, 0}));
  EXPECT_EQ(pool->lists().staged, (std::vector<Page>{7}));
  pool->clear();
  EXPECT_EQ(free_list(*pool), (std::vector<Page>{4, 3, 2, 1}));
  EXPECT_EQ(pool->staged_pages(), 0);
}

TEST_P(Pieces, AMappingPairsOneAfterTheOther) {
  const auto mapping = storage_->mapping(13);
  EXPECT_EQ(translated(*mapping, {0, 11, -1}), (Locs{0, 0, -1}));
  mapping->pair(Locs{4, 5, 4}, Locs{8, 9, 10});
  EXPECT_EQ(translated(*mapping, {4, 5, 6}), (Locs{10, 9, 0}));
  mapping->clear(Locs{5, 6});
  EXPECT_EQ(translated(*mapping, {4, 5}), (Locs{10, 0}));
  mapping->set(-1, 3);
  EXPECT_EQ(mapping->tail(), 3);
  EXPECT_EQ(mapping->at(-1), 3);
  EXPECT_EQ(mapping->entries().size(), 13U);
  EXPECT_EQ(mapping->entries()[4], 10);
  mapping->reset(6);
  EXPECT_EQ(Locs(mapping->entries().begin(), mapping->entries().end()), (Locs{0, 0, 0, 0, 0, -1}));
}

TEST_P(Pieces, AMappingKnowsWholePages) {
  const auto mapping = storage_->mapping(21);
  mapping->pair(Locs{4, 5, 7, 8, 11, 12}, Locs{6, 7, 8, 9, 4, 16});
  std::vector<Page> peers{99};
  mapping->peer_pages(std::vector<Page>{2, 1}, 4, peers);
  EXPECT_EQ(peers, (std::vector<Page>{2, 1, 2}));
  mapping->clear_pages(std::vector<Page>{1, 3}, 4);
  EXPECT_EQ(translated(*mapping, {4, 5, 7, 8, 11, 12}), (Locs{0, 0, 0, 9, 4, 0}));
}

TEST_P(Pieces, AStoreKeepsTheLastOfARow) {
  const auto kv = storage_->kv_store(Pool::full, 5);
  kv->store(std::vector<std::int64_t>{4, 1, 4}, std::vector<Stamp>{70, 71, 72});
  std::vector<Stamp> seen(3);
  kv->load(std::vector<std::int64_t>{4, 1, 0}, seen);
  EXPECT_EQ(seen, (std::vector<Stamp>{72, 71, 0}));
}

TEST_P(Pieces, ClonesAreIndependent) {
  const auto pool = storage_->page_pool(4, 1, false);
  const auto mapping = storage_->mapping(6);
  const auto kv = storage_->kv_store(Pool::full, 6);
  mapping->set(1, 5);
  const auto pool_copy = pool->clone();
  const auto mapping_copy = mapping->clone();
  const auto kv_copy = kv->clone();
  pool_copy->release(std::vector<Page>{9});
  mapping_copy->set(1, 4);
  kv_copy->store(std::vector<std::int64_t>{2}, std::vector<Stamp>{8});
  EXPECT_EQ(pool->free_pages(), 4);
  EXPECT_EQ(pool_copy->free_pages(), 5);
  EXPECT_EQ(mapping->at(1), 5);
  EXPECT_EQ(mapping_copy->at(1), 4);
  std::array<Stamp, 1> seen{1};
  kv->load(std::vector<std::int64_t>{2}, seen);
  EXPECT_EQ(seen[0], 0U);
}

/// A twin on a storage that is watched.
Twin watched_twin(const Geometry& geometry, const Watch& watch) {
  auto made = make_host(geometry, std::make_shared<WatchedStorage>(watch));
  EXPECT_TRUE(made.ok());
  return Twin(std::move(made).value());
}

TEST(OnStorage, ATwinsCloneIsIndependentAndOnTheSameStorage) {
  const Watch watch = std::make_shared<StorageWatch>();
  Twin twin = watched_twin(hybrid_pool(4, 4, 4), watch);
  const Locs row = twin.extend(0, 4);
  const Locs peers = twin.translate(row);
  ASSERT_EQ(twin->write_full(row, std::vector<Stamp>{1, 2, 3, 4}), Answer::served);
  ASSERT_EQ(twin->backup_state(1), Answer::served);
  const Census before = twin.census();

  Twin copy = twin.clone();
  const std::uint64_t calls = watch->calls;
  copy.free(row);
  ASSERT_EQ(copy->write_full(row, std::vector<Stamp>{5, 6, 7, 8}), Answer::served);
  EXPECT_GT(watch->calls, calls);
  EXPECT_EQ(twin.census().full, before.full);
  EXPECT_EQ(twin.translate(row), peers);
  std::vector<Stamp> seen(4);
  ASSERT_EQ(twin->read_full(row, seen), Answer::served);
  EXPECT_EQ(seen, (std::vector<Stamp>{1, 2, 3, 4}));

  EXPECT_EQ(copy.translate(row), Locs(4, 0));
  ASSERT_EQ(copy->restore_state(1), Answer::served);
  EXPECT_EQ(copy.translate(row), peers);
  copy.free(row);
  EXPECT_EQ(twin.translate(row), peers);
  ASSERT_EQ(copy->restore_state(1), Answer::served);  // as often as asked
  EXPECT_EQ(copy.translate(row), peers);
}

TEST(OnStorage, ResizeTakesNewPieces) {
  for (const Geometry& g : {hybrid_pool(4, 4, 4), paged_pool(4, 4),
                            Geometry{.layout = Layout::pure_swa, .page = 1, .full = 16, .window = 2, .reqs = 2}}) {
    const Watch watch = std::make_shared<StorageWatch>();
    Twin twin = watched_twin(g, watch);
    const std::map<std::string, std::uint64_t> built = watch->by_name;
    ASSERT_EQ(twin->resize(2 * g.full, 2 * g.swa), Answer::served);
    EXPECT_EQ(watch->by_name["page_pool"], 2 * built.at("page_pool")) << to_string(g);
    EXPECT_EQ(watch->by_name["kv_store"], 2 * built.at("kv_store")) << to_string(g);
    EXPECT_EQ(watch->by_name["Mapping::reset"], g.hybrid() ? 1U : 0U);
    EXPECT_EQ(twin.gauges().full_size, 2 * g.full);
  }
}

/// Small pools of every layout.
std::vector<Geometry> every_layout() {
  std::vector<Geometry> all{token_pool(8), paged_pool(4, 8), hybrid_pool(1, 8, 8), hybrid_pool(4, 8, 8),
                            ring_pool(4, 8, 8, 8)};
  all.push_back({.layout = Layout::pure_swa, .page = 1, .full = 8, .window = 2, .reqs = 2});
  all.push_back(paged_pool(4, 8, true));
  Geometry long_ring = ring_pool(4, 8, 8, 8);
  long_ring.window = 4;
  all.push_back(long_ring);
  return all;
}

OpenStorage opens(const Watch& watch) {
  return [watch]() -> Result<std::shared_ptr<const Storage>, std::string> {
    return std::shared_ptr<const Storage>(std::make_shared<WatchedStorage>(watch));
  };
}

TEST(OnStorage, EveryEntryOfTheRegistryKeepsAllItsStateThere) {
  for (const ImplInfo& impl : builtin_impls()) {
    if (!impl.make_on) {
      // The device implementations and those of a memory saver keep their state elsewhere, and of a mutant that takes
      // ranks each has its own.
      EXPECT_TRUE(impl.memory || impl.ranks > 1 || (impl.kind == ImplKind::real && impl.name != "host")) << impl.name;
      continue;
    }
    int built = 0;
    for (const Geometry& g : every_layout()) {
      const Watch watch = std::make_shared<StorageWatch>();
      const ImplInfo there = on_storage(impl, "watched", opens(watch));
      EXPECT_EQ(there.name, "watched:" + impl.name);
      const auto made = there.make(g);
      ASSERT_EQ(made.ok(), impl.supports(g)) << there.name << " on " << to_string(g);
      if (!made.ok()) {
        continue;
      }
      ++built;
      EXPECT_EQ(watch->by_name["page_pool"], 2U) << there.name;
      EXPECT_EQ(watch->by_name["kv_store"], g.sliding() ? 2U : 1U) << there.name;
      EXPECT_EQ(watch->by_name["mapping"], g.hybrid() ? 1U : 0U) << there.name;
    }
    EXPECT_GT(built, 0) << impl.name;
  }
}

TEST(OnStorage, AnEntryIsTheSameButForItsName) {
  const ImplInfo& mutant = *find_impl("B20");
  const ImplInfo there = on_storage(mutant, "far", opens(std::make_shared<StorageWatch>()));
  EXPECT_EQ(there.name, "far:B20");
  EXPECT_EQ(there.kind, mutant.kind);
  EXPECT_EQ(there.mechanism, mutant.mechanism);
  EXPECT_EQ(there.caught_by, mutant.caught_by);
  EXPECT_FALSE(there.make_on);
}

TEST(OnStorage, WhatCannotBeBuiltSaysWhy) {
  const ImplInfo& host = *find_impl("host");
  const auto closed = on_storage(host, "far", [] {
                        return Result<std::shared_ptr<const Storage>, std::string>(std::string("no device"));
                      }).make(token_pool(8));
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error(), "no device");

  ImplInfo fixed = host;
  fixed.make_on = {};
  const auto none = on_storage(fixed, "far", opens(std::make_shared<StorageWatch>())).make(token_pool(8));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().find("far:host"), std::string::npos) << none.error();

  const Watch watch = std::make_shared<StorageWatch>();
  watch->break_name = "kv_store";
  const auto broken = on_storage(host, "far", opens(watch)).make(token_pool(8));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error(), "the device is gone in kv_store");
}

/// host on a storage of which one call breaks.
std::unique_ptr<Allocator> breaking(const Geometry& geometry, const Watch& watch) {
  auto made = on_storage(*find_impl("host"), "watched", opens(watch)).make(geometry);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

/// Every method of the contract, once, with arguments that a hybrid pool of pages can take.
std::vector<std::function<Answer(Allocator&)>> every_call() {
  static const std::vector<Pos> zero{0};
  static const std::vector<Pos> one{1};
  static const Locs locs{4};
  static const Locs none{-1};
  static const std::vector<Stamp> stamps{7};
  return {
      [](Allocator& a) {
        Locs out;
        return a.alloc(4, out);
      },
      [](Allocator& a) {
        Locs out;
        return a.alloc_extend(zero, one, none, out);
      },
      [](Allocator& a) {
        Locs out;
        return a.alloc_decode(one, none, out);
      },
      [](Allocator& a) {
        Locs out;
        return a.alloc_extend_swa_tail(0, 1, -1, 1, 1, out);
      },
      [](Allocator& a) { return a.free(Side::both, locs); },
      [](Allocator& a) {
        const std::array<Segment, 1> segments{Segment{locs, 0}};
        return a.free_segments(Side::both, segments);
      },
      [](Allocator& a) { return a.free_group_begin(); },
      [](Allocator& a) { return a.free_group_end(); },
      [](Allocator& a) { return a.set_full_to_swa_mapping(locs, locs); },
      [](Allocator& a) { return a.clear_full_to_swa_mapping(locs); },
      [](Allocator& a) {
        Locs out(1);
        return a.translate_loc_from_full_to_swa(locs, out);
      },
      [](Allocator& a) { return a.clear(); },
      [](Allocator& a) { return a.resize(32, 32); },
      [](Allocator& a) { return a.backup_state(1); },
      [](Allocator& a) { return a.restore_state(1); },
      [](Allocator& a) {
        std::int64_t slot = 0;
        return a.take_slot(slot);
      },
      [](Allocator& a) { return a.give_slot(1); },
      [](Allocator& a) { return a.write_full(locs, stamps); },
      [](Allocator& a) {
        std::vector<Stamp> out(1);
        return a.read_full(locs, out);
      },
      [](Allocator& a) { return a.write_swa(locs, -1, 0, stamps); },
      [](Allocator& a) {
        std::vector<Stamp> out(1);
        return a.read_swa(locs, -1, 0, out);
      },
      [](Allocator& a) {
        Gauges out;
        return a.gauges(out);
      },
      [](Allocator& a) {
        Census out;
        return a.census(out);
      },
  };
}

TEST(Guarded, PassesEveryCallOnAndFailsEveryCallOnceTheStorageFailed) {
  const Geometry g = hybrid_pool(4, 8, 8);
  const Watch watch = std::make_shared<StorageWatch>();
  const std::unique_ptr<Allocator> guarded = breaking(g, watch);
  Twin twin(g);
  for (std::size_t i = 0; i < every_call().size(); ++i) {
    EXPECT_EQ(every_call()[i](*guarded), every_call()[i](*twin)) << "call " << i;
  }
  EXPECT_EQ(guarded->failure(), twin->failure());
  EXPECT_FALSE(guarded->breakdown());

  watch->break_call = watch->calls + 1;
  Gauges gauges;
  EXPECT_EQ(guarded->gauges(gauges), Answer::failed);
  const std::uint64_t calls = watch->calls;
  for (std::size_t i = 0; i < every_call().size(); ++i) {
    EXPECT_EQ(every_call()[i](*guarded), Answer::failed) << "call " << i;
  }
  EXPECT_EQ(watch->calls, calls) << "a storage that failed is asked again";
  EXPECT_EQ(guarded->failure(), "the device is gone in Mapping::tail");
  EXPECT_EQ(guarded->breakdown(), (Breakdown{BreakdownKind::raised, "device gone"}));
}

TEST(Guarded, EveryCallCanBeTheOneThatBreaks) {
  const Geometry g = hybrid_pool(4, 8, 8);
  std::size_t broke = 0;
  for (const auto& call : every_call()) {
    const Watch watch = std::make_shared<StorageWatch>();
    const std::unique_ptr<Allocator> guarded = breaking(g, watch);
    ASSERT_EQ(guarded->backup_state(1), Answer::served);
    watch->break_call = watch->calls + 1;
    const Answer answer = call(*guarded);
    EXPECT_EQ(answer == Answer::failed, watch->calls >= watch->break_call);
    broke += answer == Answer::failed ? 1 : 0;
  }
  EXPECT_EQ(broke, every_call().size() - 4);  // groups and request slots are the twin's own
}

TEST(Guarded, ACloneOfWhatFailedHasFailedAndACopyThatBreaksLeavesTheOriginal) {
  const Watch watch = std::make_shared<StorageWatch>();
  const std::unique_ptr<Allocator> guarded = breaking(hybrid_pool(4, 4, 4), watch);
  Gauges gauges;
  watch->break_name = "PagePool::clone";
  const std::unique_ptr<Allocator> broken_copy = guarded->clone();
  ASSERT_NE(broken_copy, nullptr);
  EXPECT_EQ(broken_copy->gauges(gauges), Answer::failed);
  EXPECT_EQ(broken_copy->failure(), "the device is gone in PagePool::clone");
  EXPECT_EQ(guarded->gauges(gauges), Answer::served);

  watch->break_name.clear();
  const std::unique_ptr<Allocator> copy = guarded->clone();
  EXPECT_EQ(copy->gauges(gauges), Answer::served);
  watch->break_call = watch->calls + 1;
  EXPECT_EQ(guarded->gauges(gauges), Answer::failed);
  EXPECT_EQ(copy->gauges(gauges), Answer::served);
  const std::unique_ptr<Allocator> late = guarded->clone();
  EXPECT_EQ(late->gauges(gauges), Answer::failed);
  EXPECT_EQ(late->breakdown(), guarded->breakdown());
}

}  // namespace
}  // namespace poolproof::testing
