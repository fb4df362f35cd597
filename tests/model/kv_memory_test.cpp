// The memory behind a pool: which buffers there are, how large, and what the pool line says of them.

#include "model/kv_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/geometry.hpp"

namespace poolproof {
namespace {

Geometry pool(const std::vector<std::pair<std::string, std::string>>& keys) {
  Geometry g;
  for (const auto& [key, value] : keys) {
    const auto complaint = set_geometry_key(g, key, value);
    EXPECT_EQ(complaint, std::nullopt) << key;
  }
  return g;
}

Geometry reference(const std::string& kind) {
  return pool({{"layout", "hybrid"},
               {"page", "64"},
               {"full", "262144"},
               {"swa", "65536"},
               {"window", "128"},
               {"kv", kind},
               {"full_layers", "12"},
               {"swa_layers", "36"}});
}

std::int64_t bytes_of(const Geometry& g, bool in_granules) {
  std::int64_t total = 0;
  for (const BufferPlan& buffer : planned_buffers(g)) {
    total += in_granules ? whole_granules(buffer.bytes(), 2 << 20) : buffer.bytes();
  }
  return total;
}

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / 1073741824.0; }

std::vector<std::string> names_of(const Geometry& g) {
  std::vector<std::string> names;
  for (const BufferPlan& buffer : planned_buffers(g)) {
    names.push_back(buffer.name());
  }
  return names;
}

// 48 layers, 12 full and 36 SWA; 262,144 and 65,536 tokens: 21.0, 5.9, 6.3 GiB, in granules of 2 MiB 21.2, 6.0, 6.4.
TEST(KvMemory, TheReferencePoolsHaveTheirSizes) {
  EXPECT_NEAR(gib(bytes_of(reference("mha"), false)), 21.0, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("mla"), false)), 5.9, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("dsa"), false)), 6.3, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("mha"), true)), 21.2, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("mla"), true)), 6.0, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("dsa"), true)), 6.4, 0.05);
  EXPECT_NEAR(gib(bytes_of(reference("dsa"), false) - bytes_of(reference("mla"), false)), 0.39, 0.005);
  EXPECT_EQ(planned_buffers(reference("mha")).size(), 96U);
  EXPECT_EQ(planned_buffers(reference("mla")).size(), 48U);
  EXPECT_EQ(planned_buffers(reference("dsa")).size(), 60U);
}

TEST(KvMemory, EachKindHasItsBuffers) {
  const auto small = [](const std::string& layout, const std::string& kind) {
    std::vector<std::pair<std::string, std::string>> keys{
        {"layout", layout}, {"page", "4"}, {"full", "8"}, {"kv", kind}};
    if (layout == "hybrid") {
      keys.insert(keys.end(), {{"swa", "4"}, {"window", "4"}});
    }
    return pool(keys);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(small("hybrid", "mha")), (Names{"full.k.0", "full.v.0", "swa.k.0", "swa.v.0"}));
  EXPECT_EQ(names_of(small("hybrid", "mla")), (Names{"full.kv.0", "swa.kv.0"}));
  EXPECT_EQ(names_of(small("hybrid", "dsa")), (Names{"full.kv.0", "full.index_k.0", "swa.kv.0"}));
  EXPECT_EQ(names_of(small("paged", "mha")), (Names{"full.k.0", "full.v.0"}));
  EXPECT_EQ(names_of(small("paged", "dsa")), (Names{"full.kv.0", "full.index_k.0"}));
  EXPECT_TRUE(names_of(small("paged", "none")).empty());
}

TEST(KvMemory, RowsAreTokensAndAPageOfPadding) {
  Geometry g =
      pool({{"layout", "hybrid"}, {"page", "4"}, {"full", "8p"}, {"swa", "2p"}, {"window", "4"}, {"kv", "mla"}});
  std::vector<BufferPlan> plan = planned_buffers(g);
  EXPECT_EQ(plan[0].rows, 36);
  EXPECT_EQ(plan[1].rows, 12);
  EXPECT_EQ(plan[0].row_bytes, 576 * 2);
  g.reqs = 3;
  g.ring = 6;
  plan = planned_buffers(g);
  EXPECT_EQ(plan[1].rows, 24) << "a ring's rows for each request slot, slot 0 included";
}

TEST(KvMemory, RowBytesFollowHeadsDimensionAndType) {
  const auto row = [](std::vector<std::pair<std::string, std::string>> keys) {
    keys.insert(keys.begin(), {{"layout", "paged"}, {"full", "4"}});
    return planned_buffers(pool(keys)).front().row_bytes;
  };
  EXPECT_EQ(row({{"kv", "mha"}}), 8 * 128 * 2);
  EXPECT_EQ(row({{"kv", "mha"}, {"heads", "4"}}), 4 * 128 * 2);
  EXPECT_EQ(row({{"kv", "mha"}, {"head_dim", "64"}, {"dtype", "fp8"}}), 8 * 64);
  EXPECT_EQ(row({{"kv", "mla"}, {"dtype", "fp32"}}), 576 * 4);
  EXPECT_EQ(row({{"kv", "mla"}, {"dtype", "fp16"}, {"head_dim", "656"}}), 656 * 2);
}

TEST(KvMemory, WeightsComeLastUnderATagOfTheirOwn) {
  const Geometry g = pool({{"layout", "token"}, {"full", "8"}, {"kv", "mha"}, {"weights", "5000"}});
  const BufferPlan weights = planned_buffers(g).back();
  EXPECT_EQ(weights.name(), "weights");
  EXPECT_EQ(weights.bytes(), 5000);
  EXPECT_EQ(weights.tag(), MemoryTag::weights);
  EXPECT_EQ(planned_buffers(g).front().tag(), MemoryTag::kv_cache);
  EXPECT_TRUE(names_tag(MemoryTag::all, MemoryTag::weights));
  EXPECT_FALSE(names_tag(MemoryTag::kv_cache, MemoryTag::weights));
}

TEST(KvMemory, ThePoolLineSaysWhatIsNotUsual) {
  Geometry g =
      pool({{"layout", "hybrid"}, {"page", "4"}, {"full", "8p"}, {"swa", "2p"}, {"window", "4"}, {"kv", "dsa"}});
  EXPECT_EQ(to_string(g), "layout=hybrid page=4 full=8p swa=2p window=4 kv=dsa");
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"full_layers", "2"},
                                                                                   {"swa_layers", "3"},
                                                                                   {"heads", "4"},
                                                                                   {"head_dim", "32"},
                                                                                   {"dtype", "fp8"},
                                                                                   {"index_k", "64"},
                                                                                   {"saver", "backup"},
                                                                                   {"weights", "9"}}) {
    EXPECT_EQ(set_geometry_key(g, key, value), std::nullopt);
  }
  EXPECT_EQ(to_string(g),
            "layout=hybrid page=4 full=8p swa=2p window=4 kv=dsa full_layers=2 swa_layers=3 heads=4 head_dim=32 "
            "dtype=fp8 index_k=64 saver=backup weights=9");
  EXPECT_EQ(geometry_fault(g), std::nullopt);
}

TEST(KvMemory, ValuesThatAreNoneAreTurnedAway) {
  Geometry g;
  const auto complaint = [&](const char* key, const char* value) {
    return set_geometry_key(g, key, value).value_or("");
  };
  EXPECT_EQ(complaint("kv", "gqa"), "kv=gqa: there are mha, mla, dsa and none");
  EXPECT_EQ(complaint("dtype", "int4"), "dtype=int4: there are bf16, fp16, fp8 and fp32");
  EXPECT_EQ(complaint("saver", "1"), "saver=1: there are on, off and backup");
  EXPECT_EQ(complaint("heads", "0"), "heads=0: give 1 or more, or leave it out");
  EXPECT_EQ(complaint("index_k", "0"), "index_k=0: give 1 or more, or leave it out");
  EXPECT_EQ(complaint("weights", "-1"), "weights=-1: give a whole number");
}

TEST(KvMemory, WhatDoesNotGoTogetherIsAFault) {
  const Geometry good =
      pool({{"layout", "hybrid"}, {"page", "4"}, {"full", "8"}, {"swa", "4"}, {"window", "4"}, {"kv", "mla"}});
  ASSERT_EQ(geometry_fault(good), std::nullopt);
  const auto fault = [&](auto change) {
    Geometry g = good;
    change(g);
    return geometry_fault(g).value_or("");
  };
  EXPECT_EQ(fault([](Geometry& g) { g.kv = {.heads = 2}; }),
            "heads is about the memory behind the pool; give kv=mha, kv=mla or kv=dsa too");
  EXPECT_EQ(fault([](Geometry& g) { g.kv = {.saver = SaverMode::off}; }),
            "saver is about the memory behind the pool; give kv=mha, kv=mla or kv=dsa too");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.index_bytes = 132; }), "kv=mla has no index-K; leave index_k out");
  EXPECT_EQ(fault([](Geometry& g) {
              g.layout = Layout::paged;
              g.swa = g.window = 0;
              g.kv.swa_layers = 2;
            }),
            "layout=paged has no SWA layers; leave swa_layers out");
  EXPECT_EQ(fault([](Geometry& g) {
              g.layout = Layout::pure_swa;
              g.page = 1;
              g.swa = 0;
            }),
            "layout=pure_swa has no pool builder; the memory of token, paged and hybrid pools is known");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.full_layers = 1025; }), "full_layers=1025 is more than 1024 layers");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.swa_layers = 2000; }), "swa_layers=2000 is more than 1024 layers");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.head_dim = 600'000; }),
            "a token takes more than 1048576 bytes a layer; give smaller heads or head_dim");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.heads = std::int64_t{1} << 62; }),
            "a token takes more than 1048576 bytes a layer; give smaller heads or head_dim");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.head_dim = 3; }),
            "a token of 6 bytes is too small to be told apart; it takes 8 at least");
  EXPECT_EQ(fault([](Geometry& g) {
              g.kv.kind = KvKind::dsa;
              g.kv.index_bytes = 7;
            }),
            "index_k=7 is not from 8 to 1048576 bytes a token");
  EXPECT_EQ(fault([](Geometry& g) { g.kv.weights_bytes = (std::int64_t{1} << 50) + 1; }),
            "weights=1125899906842625 is more than 1125899906842624 bytes");
}

}  // namespace
}  // namespace poolproof
