// The registry: each name once, each entry complete, each built on the pools that it supports.
#include "impl/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace poolproof {
namespace {

std::vector<Geometry> sample_geometries() {
  std::vector<Geometry> all;
  for (const bool need_sort : {false, true}) {
    for (const Tokens page : {Tokens{1}, Tokens{4}}) {
      const Geometry paged{.layout = page == 1 ? Layout::token : Layout::paged,
                           .page = page,
                           .full = 8 * page,
                           .reqs = 3,
                           .need_sort = need_sort};
      all.push_back(paged);
      Geometry hybrid = paged;
      hybrid.layout = Layout::hybrid;
      hybrid.swa = 4 * page;
      hybrid.window = 2 * page;
      all.push_back(hybrid);
      hybrid.ring = 3 * page;
      all.push_back(hybrid);
    }
    all.push_back({.layout = Layout::pure_swa, .page = 1, .full = 8, .window = 2, .reqs = 3, .need_sort = need_sort});
  }
  for (const KvKind kind : {KvKind::mha, KvKind::dsa}) {
    for (const SaverMode saver : {SaverMode::on, SaverMode::off, SaverMode::backup}) {
      Geometry g{.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 16, .window = 4, .reqs = 3};
      g.kv = {.kind = kind, .head_dim = 16, .saver = saver, .weights_bytes = 5000};
      all.push_back(g);
    }
  }
  return all;
}

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const ImplInfo& impl : builtin_impls()) {
    EXPECT_TRUE(names.insert(impl.name).second) << impl.name << " stands twice";
    EXPECT_EQ(find_impl(impl.name), &impl);
  }
  EXPECT_EQ(find_impl("no-such-allocator"), nullptr);
}

TEST(Registry, HoldsTheHostTheRequiredMutantsAndOneCanary) {
  ASSERT_NE(find_impl("host"), nullptr);
  EXPECT_EQ(find_impl("host")->kind, ImplKind::real);
  for (const char* name :
       {"B01", "B04", "B08", "B11", "B15-free-swa", "B15-group-end", "B15-no-clear", "B16", "B17", "B20", "B21",
        "B22", "B26", "B27", "B30", "B32",          "B36",           "B41",          "B46", "B61", "B94"}) {
    ASSERT_NE(find_impl(name), nullptr) << name;
    EXPECT_EQ(find_impl(name)->kind, ImplKind::mutant);
  }
  const auto impls = builtin_impls();
  EXPECT_EQ(std::count_if(impls.begin(), impls.end(), [](const ImplInfo& i) { return i.kind == ImplKind::canary; }), 1);
}

TEST(Registry, EveryMutantSaysWhereItComesFromAndWhatCatchesIt) {
  for (const ImplInfo& impl : builtin_impls()) {
    if (impl.kind == ImplKind::mutant) {
      EXPECT_FALSE(impl.source.empty()) << impl.name;
      EXPECT_FALSE(impl.mechanism.empty()) << impl.name;
      EXPECT_FALSE(impl.caught_by.empty()) << impl.name;
    }
  }
}

TEST(Registry, EveryInvariantHasAMutant) {
  for (const InvariantInfo& info : invariants()) {
    const auto impls = builtin_impls();
    EXPECT_TRUE(std::any_of(impls.begin(), impls.end(), [&](const ImplInfo& impl) {
      return impl.kind == ImplKind::mutant &&
             std::find(impl.caught_by.begin(), impl.caught_by.end(), info.invariant) != impl.caught_by.end();
    })) << info.id;
  }
}

/// Can it run on this machine?
bool present(const ImplInfo& impl) { return !impl.missing || !impl.missing(); }

TEST(Registry, EveryEntryIsBuiltWhereItIsSupportedAndRefusedElsewhere) {
  for (const ImplInfo& impl : builtin_impls()) {
    if (!present(impl)) {
      continue;
    }
    int built = 0;
    for (const Geometry& g : sample_geometries()) {
      const auto made = impl.make(g);
      ASSERT_EQ(made.ok(), impl.supports(g)) << impl.name << " on " << to_string(g);
      if (!made.ok()) {
        EXPECT_NE(made.error().find(impl.name), std::string::npos);
        continue;
      }
      ++built;
      Gauges gauges;
      EXPECT_EQ((*made)->gauges(gauges), Answer::served);
      EXPECT_EQ(gauges.slots, g.reqs);
    }
    EXPECT_GT(built, 0) << impl.name;
  }
}

TEST(Registry, ClonesKeepTheFault) {
  for (const ImplInfo& impl : builtin_impls()) {
    for (const Geometry& g : sample_geometries()) {
      if (!impl.supports(g) || !present(impl)) {
        continue;
      }
      const auto made = impl.make(g);
      ASSERT_TRUE(made.ok());
      if (impl.memory) {
        EXPECT_EQ((*made)->clone(), nullptr) << impl.name << ": memory at one address is not had twice";
        continue;
      }
      const std::unique_ptr<Allocator> copy = (*made)->clone();
      ASSERT_NE(copy, nullptr);
      const Allocator& original = **made;
      const Allocator& copied = *copy;
      EXPECT_EQ(typeid(copied), typeid(original)) << impl.name;
    }
  }
}

TEST(Registry, AnImpossibleGeometryIsAnErrorWithAReason) {
  for (const ImplInfo& impl : builtin_impls()) {
    const auto made = impl.make({.layout = Layout::paged, .page = 3, .full = 9});
    ASSERT_FALSE(made.ok()) << impl.name;
    EXPECT_FALSE(made.error().empty());
  }
}

}  // namespace
}  // namespace poolproof
