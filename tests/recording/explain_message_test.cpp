// Messages of the engine's releases, with the log text around them, in plain words.
#include "recording/explain_message.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "impl/registry.hpp"
#include "model/invariants.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof {
namespace {

struct Sample {
  std::string name;  ///< of the golden file
  std::string text;
  std::optional<Tokens> page;
};

/// In the words of the releases; the numbers are ours.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all{
      {"0.4.9-one-pool",
       "ValueError: token_to_kv_pool_allocator memory leak detected! available_size=97, protected_size=0, "
       "self.max_total_num_tokens=100\navailable_token_size=90\nself.tree_cache.evictable_size()=7\n",
       std::nullopt},
      {"0.5.2-hybrid",
       "ValueError: token_to_kv_pool_allocator memory leak detected! self.full_tokens_per_layer=1024, "
       "full_available_size=900, full_evictable_size=60, self.tree_cache.full_protected_size()=0\n"
       "self.swa_tokens_per_layer=800, swa_available_size=700, swa_evictable_size=100, "
       "self.tree_cache.swa_protected_size()=0\n",
       16},
      {"0.5.6-busy", "AssertionError: Mem Leak Detected! total_tokens=65600 vs self.max_total_num_tokens=65536", 64},
      {"0.5.10-hybrid-both",
       "token_to_kv_pool_allocator memory leak detected! full_leaked=32, swa_leaked=32\n"
       "self.full_tokens_per_layer=512, full_available_size=400, full_evictable_size=80, full_protected=0, "
       "session_held_full=0\nself.swa_tokens_per_layer=256, swa_available_size=200, swa_evictable_size=24, "
       "swa_protected=0, session_held_swa=0\n",
       16},
      {"0.5.10-radix",
       "token_to_kv_pool_allocator memory leak detected! self.max_total_num_tokens=640, available_size=600, "
       "evictable_size=60, protected_size=3, session_held=0\n",
       4},
      {"0.5.10-mamba",
       "token_to_kv_pool_allocator memory leak detected! full_available_size=90, full_evictable_size=10, "
       "self.token_to_kv_pool_allocator.size=100, self.tree_cache.full_protected_size()=0\n"
       "mamba_available_size=7, mamba_evictable_size=0, self.req_to_token_pool.mamba_pool.size=8, "
       "self.tree_cache.mamba_protected_size()=0, leaked_full_pages=None, leaked_mamba_pages={3}\n",
       std::nullopt},
      {"0.5.23-swa-over",
       "[2026-01-31 12:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
       "AssertionError: SWA Pool Mem Leak Detected! [swa] total=4096, available=4160, evictable=0, protected=0, "
       "session_held=0, uncached=0\n",
       64},
      {"0.5.23-busy-lines",
       "[Mem Check (BUSY)] [full] total=100, available=50, evictable=20, protected=20, session_held=0, uncached=10\n"
       "[Mem Check (BUSY)] [swa] total=64, available=30, evictable=20, protected=4, session_held=0, uncached=9\n"
       "AssertionError: SWA Pool Mem Leak Detected! [swa] total=64, available=30, evictable=20, protected=4, "
       "session_held=0, uncached=9\n",
       1},
      {"0.5.23-ring",
       "[full] total=2048, available=1792, evictable=0, protected=0, session_held=0, uncached=256\n"
       "[swa] unified ring (leak-check skipped): available=1280, evictable=0, total=1024\n",
       256},
      {"0.5.23-ring-assert",
       "  File \"/opt/sglang/srt/mem_cache/allocator/swa.py\", line 633, in free_group_end\n"
       "    assert self.swa_attn_allocator.available_size() <=\n      self.swa_attn_allocator.size\nAssertionError\n",
       std::nullopt},
      {"0.5.23-slots", "req_to_token_pool memory leak detected!available_size=29, session_held=1, total_size=32\n",
       std::nullopt},
      {"0.5.23-duplicates", "KV double free: sub-pool 1 has 2 duplicate pages.", std::nullopt},
      {"0.5.10-out-of-memory",
       "RuntimeError: Prefill out of memory. Try to lower your batch size.\nTry to allocate 300 tokens.\n"
       "Available tokens: 350 (available_size=310 + evictable_size=40)\n",
       256},
      {"0.5.23-adds-up", "[full] total=100, available=50, evictable=20, protected=20, session_held=0, uncached=10",
       std::nullopt},
  };
  return all;
}

class Explained : public testing::TestWithParam<Sample> {};

TEST_P(Explained, InPlainWords) {
  const EngineMessage message = read_engine_message(GetParam().text);
  ASSERT_FALSE(message.empty());
  expect_golden("explain-" + GetParam().name + ".txt", explain_engine_message(message, GetParam().page));
}

INSTANTIATE_TEST_SUITE_P(Samples, Explained, testing::ValuesIn(samples()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(EngineMessage, NumbersOfTheNewestCheckCount) {
  const EngineMessage message = read_engine_message(
      "[full] total=10, available=10, evictable=0\n[full] total=10, available=4, evictable=3, protected=1\n");
  ASSERT_EQ(message.sums.size(), 1U);
  EXPECT_EQ(message.sums[0].sum(), 8);
  EXPECT_EQ(message.sums[0].over(), -2);
}

TEST(EngineMessage, SlotsDoNotMixWithPools) {
  const EngineMessage message = read_engine_message(
      "[full] total=10, available=10, evictable=0, session_held=0\n"
      "req_to_token_pool memory leak detected!available_size=3, session_held=5, total_size=9\n");
  ASSERT_EQ(message.sums.size(), 1U);
  EXPECT_EQ(message.sums[0].over(), 0);
  ASSERT_TRUE(message.slots);
  EXPECT_EQ(message.slots->available + message.slots->session_held, 8);
}

TEST(EngineMessage, EachKnownTextIsFoundAndNamesWhatThereIs) {
  for (const KnownText& known : known_texts()) {
    const EngineMessage message = read_engine_message("E   assert x\n" + std::string(known.text) + "\nboom");
    ASSERT_FALSE(message.known.empty()) << known.text;
    EXPECT_NE(std::find(message.known.begin(), message.known.end(), &known), message.known.end()) << known.text;
    const bool rule =
        std::any_of(rules().begin(), rules().end(), [&](const RuleInfo& info) { return info.id == known.rule; });
    EXPECT_TRUE(rule || invariant_from(known.rule)) << known.rule;
    std::istringstream names{std::string(known.family)};
    for (std::string name; names >> name;) {
      name.erase(std::remove(name.begin(), name.end(), ','), name.end());
      EXPECT_NE(find_impl(name), nullptr) << name;
    }
  }
}

TEST(EngineMessage, OtherTextIsNone) {
  for (const char* text :
       {"", "hello", "available_size=", "=3", "total=7", "[full]", "x=1, y=2", "Decode out of memory, and no number",
        "max_total_num_tokens=7", "[swa] total=0, available=0"}) {
    EXPECT_TRUE(read_engine_message(text).empty()) << text;
  }
}

}  // namespace
}  // namespace poolproof
