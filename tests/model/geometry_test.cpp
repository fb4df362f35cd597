#include "model/geometry.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace poolproof {
namespace {

Geometry token_pool() { return {.layout = Layout::token, .full = 32}; }
Geometry paged_pool() { return {.layout = Layout::paged, .page = 16, .full = 64}; }
Geometry hybrid_pool() { return {.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 16, .window = 6}; }
Geometry ring_pool() {
  Geometry g = hybrid_pool();
  g.ring = 8;
  g.reqs = 3;
  return g;
}
Geometry pure_swa_pool() { return {.layout = Layout::pure_swa, .full = 32, .window = 4}; }

template <typename Change>
std::string fault_of(Geometry g, const Change& change) {
  change(g);
  return geometry_fault(g).value_or("");
}

TEST(Geometry, EachLayoutHasAGoodOne) {
  for (const Geometry& g : {token_pool(), paged_pool(), hybrid_pool(), ring_pool(), pure_swa_pool()}) {
    EXPECT_EQ(geometry_fault(g), std::nullopt) << to_string(g);
  }
}

TEST(Geometry, PageIsAPowerOfTwoUpTo65536) {
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.page = 3; }), "page=3 is not a power of two from 1 to 65536");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.page = 0; }), "page=0 is not a power of two from 1 to 65536");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.page = -4; }), "page=-4 is not a power of two from 1 to 65536");
  EXPECT_EQ(fault_of(paged_pool(),
                     [](Geometry& g) {
                       g.page = 131072;
                       g.full = 131072;
                     }),
            "page=131072 is not a power of two from 1 to 65536");
  EXPECT_EQ(fault_of(paged_pool(),
                     [](Geometry& g) {
                       g.page = 65536;
                       g.full = 65536;
                     }),
            "");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.page = 1; }), "");
}

TEST(Geometry, TokenAndPureSwaLendSingleSlots) {
  EXPECT_EQ(fault_of(token_pool(), [](Geometry& g) { g.page = 4; }),
            "layout=token lends single slots and takes page=1, not page=4");
  EXPECT_EQ(fault_of(pure_swa_pool(), [](Geometry& g) { g.page = 2; }),
            "layout=pure_swa lends single slots and takes page=1, not page=2");
}

TEST(Geometry, SizesAreWholePagesWithinTheLimit) {
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.full = 0; }),
            "the pool has no size; give full=TOKENS or full=PAGESp");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.full = -16; }),
            "full=-16 is not a pool size; it is at least one page");
  EXPECT_EQ(fault_of(paged_pool(),
                     [](Geometry& g) {
                       g.page = 256;
                       g.full = 16;
                     }),
            "full=16 is not a multiple of page=256; for 16 pages write full=16p");
  EXPECT_EQ(fault_of(hybrid_pool(), [](Geometry& g) { g.swa = 6; }),
            "swa=6 is not a multiple of page=4; for 6 pages write swa=6p");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.full = max_pool_tokens; }), "");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.full = max_pool_tokens + 16; }),
            "full=1073741840 is larger than 1073741824 tokens, the largest pool");
  EXPECT_EQ(fault_of(hybrid_pool(), [](Geometry& g) { g.swa = max_pool_tokens + 4; }),
            "swa=1073741828 is larger than 1073741824 tokens, the largest pool");
}

TEST(Geometry, OnlyHybridHasAnSwaPool) {
  EXPECT_EQ(fault_of(hybrid_pool(), [](Geometry& g) { g.swa = 0; }),
            "layout=hybrid needs the size of its SWA pool; give swa=TOKENS or swa=PAGESp");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.swa = 16; }), "layout=paged has no SWA pool; leave swa out");
  EXPECT_EQ(fault_of(pure_swa_pool(), [](Geometry& g) { g.swa = 16; }),
            "layout=pure_swa has no SWA pool; leave swa out");
}

TEST(Geometry, WhatSlidesNeedsAWindow) {
  EXPECT_EQ(fault_of(hybrid_pool(), [](Geometry& g) { g.window = 0; }),
            "layout=hybrid slides and needs window=TOKENS, at least 1");
  EXPECT_EQ(fault_of(pure_swa_pool(), [](Geometry& g) { g.window = -1; }),
            "layout=pure_swa slides and needs window=TOKENS, at least 1");
  EXPECT_EQ(fault_of(hybrid_pool(), [](Geometry& g) { g.window = max_pool_tokens + 1; }),
            "window=1073741825 is larger than 1073741824 tokens");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.window = 4; }),
            "layout=paged has no sliding layers; leave window out");
  EXPECT_EQ(fault_of(token_pool(), [](Geometry& g) { g.window = 4; }),
            "layout=token has no sliding layers; leave window out");
}

TEST(Geometry, ARingNeedsSlotsAndHoldsTheWindow) {
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.ring = 8; }),
            "layout=paged takes no ring; only layout=hybrid does");
  EXPECT_EQ(fault_of(ring_pool(), [](Geometry& g) { g.reqs = 0; }),
            "a ring lives in request slots; give reqs=N, at least 1");
  EXPECT_EQ(fault_of(ring_pool(), [](Geometry& g) { g.ring = 5; }),
            "ring=5 does not hold window=6; give ring=6 or more");
  EXPECT_EQ(fault_of(ring_pool(), [](Geometry& g) { g.ring = 6; }), "");
  EXPECT_EQ(fault_of(ring_pool(), [](Geometry& g) { g.ring = -8; }),
            "ring=-8 does not hold window=6; give ring=6 or more");
}

TEST(Geometry, RingStorageIsBounded) {
  const auto rows = [](std::int64_t reqs, Tokens ring) {
    return fault_of(ring_pool(), [=](Geometry& g) {
      g.reqs = reqs;
      g.ring = ring;
    });
  };
  EXPECT_EQ(rows(1023, Tokens{1} << 20), "");
  EXPECT_EQ(rows(1024, Tokens{1} << 20),
            "1024 request slots with ring=1048576 are more than 1073741824 rows of SWA "
            "storage");
  EXPECT_EQ(rows(1, std::numeric_limits<Tokens>::max()),
            "1 request slots with ring=9223372036854775807 are more than 1073741824 rows of SWA storage");
}

TEST(Geometry, RequestSlotsAreBounded) {
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.reqs = -1; }),
            "reqs=-1 is not a number of request slots from 0 to 1048576");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.reqs = max_reqs; }), "");
  EXPECT_EQ(fault_of(paged_pool(), [](Geometry& g) { g.reqs = max_reqs + 1; }),
            "reqs=1048577 is not a number of request slots from 0 to 1048576");
}

TEST(Geometry, LayoutNamesGoBothWays) {
  for (const Layout layout : {Layout::token, Layout::paged, Layout::hybrid, Layout::pure_swa}) {
    EXPECT_EQ(layout_from(layout_name(layout)), layout);
  }
  EXPECT_EQ(layout_name(Layout::pure_swa), "pure_swa");
  EXPECT_EQ(layout_from("Paged"), std::nullopt);
  EXPECT_EQ(layout_from(""), std::nullopt);
}

TEST(Geometry, PrintsWhatIsNotDefault) {
  EXPECT_EQ(to_string(token_pool()), "layout=token page=1 full=32");
  EXPECT_EQ(to_string(paged_pool()), "layout=paged page=16 full=4p");
  EXPECT_EQ(to_string(hybrid_pool()), "layout=hybrid page=4 full=8p swa=4p window=6");
  Geometry sorted = ring_pool();
  sorted.need_sort = true;
  EXPECT_EQ(to_string(sorted), "layout=hybrid page=4 full=8p swa=4p ring=8 window=6 reqs=3 need_sort=1");
}

TEST(Geometry, TokensAreToldInPagesWhereTheyFillThem) {
  EXPECT_EQ(tokens_text(32, 4), "8p");
  EXPECT_EQ(tokens_text(30, 4), "30");
  EXPECT_EQ(tokens_text(32, 1), "32");
  EXPECT_EQ(tokens_text(0, 4), "0");
}

TEST(Geometry, ParsesTokensAndPages) {
  EXPECT_EQ(parse_tokens("4096", 256), 4096);
  EXPECT_EQ(parse_tokens("15p", 256), 3840);
  EXPECT_EQ(parse_tokens("15p", 1), 15);
  EXPECT_EQ(parse_tokens("0", 4), 0);
  EXPECT_EQ(parse_tokens("9223372036854775807", 1), std::numeric_limits<Tokens>::max());
  for (const std::string_view text : {"", "p", "-1", "+1", " 1", "1 ", "1pp", "0x10", "1.5", "15P",
                                      "9223372036854775808", "4611686018427387904p", "99999999999999999999999999p"}) {
    EXPECT_EQ(parse_tokens(text, 4), std::nullopt) << text;
  }
  EXPECT_EQ(parse_tokens("1p", 0), std::nullopt);
}

TEST(Geometry, KeysAreSetOneByOne) {
  Geometry g;
  EXPECT_EQ(set_geometry_key(g, "layout", "hybrid"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "page", "4"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "full", "8p"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "swa", "16"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "ring", "2p"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "window", "6"), std::nullopt);
  EXPECT_EQ(set_geometry_key(g, "reqs", "3"), std::nullopt);
  EXPECT_EQ(g, ring_pool());
  EXPECT_EQ(set_geometry_key(g, "need_sort", "1"), std::nullopt);
  EXPECT_TRUE(g.need_sort);
  EXPECT_EQ(set_geometry_key(g, "need_sort", "0"), std::nullopt);
  EXPECT_FALSE(g.need_sort);
}

TEST(Geometry, WrongKeysAndValuesSayWhatWouldDo) {
  const auto complaint = [](std::string_view key, std::string_view value) {
    Geometry g = ring_pool();
    std::string text = set_geometry_key(g, key, value).value_or("");
    EXPECT_EQ(g, ring_pool()) << key << "=" << value;
    return text;
  };
  EXPECT_EQ(complaint("pgae", "4"), "unknown key 'pgae', did you mean 'page'?");
  EXPECT_EQ(complaint("colour", "4"),
            "unknown key 'colour'; there are layout, page, full, swa, ring, window, reqs, need_sort, kv, full_layers, "
            "swa_layers, "
            "heads, head_dim, dtype, index_k, saver, weights");
  EXPECT_EQ(complaint("layout", "flat"), "unknown layout 'flat'; there are token, paged, hybrid and pure_swa");
  EXPECT_EQ(complaint("page", "4p"), "page=4p: give a whole number");
  EXPECT_EQ(complaint("page", "12"), "page=12 is not a power of two from 1 to 65536");
  EXPECT_EQ(complaint("full", "many"), "full=many: give tokens (4096) or pages (16p)");
  EXPECT_EQ(complaint("full", "9223372036854775807p"), "full=9223372036854775807p: number too large");
  EXPECT_EQ(complaint("window", "99999999999999999999"), "window=99999999999999999999: number too large");
  EXPECT_EQ(complaint("reqs", "-1"), "reqs=-1: give a whole number");
  EXPECT_EQ(complaint("need_sort", "yes"), "need_sort=yes: give 0 or 1");
  EXPECT_EQ(complaint("swa", std::string_view("1\0\xff", 3)), "swa=1\\x00\\xff: give tokens (4096) or pages (16p)");
}

}  // namespace
}  // namespace poolproof
