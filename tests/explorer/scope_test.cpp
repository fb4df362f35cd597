// Scopes: their text, what is no scope, and the ops that they have.
#include "fuzz/explorer/scope.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fuzz/explorer/alphabet.hpp"
#include "fuzz/explorer/shortest.hpp"
#include "model/trace_text.hpp"
#include "props/choices.hpp"
#include "tests/explorer/naive_explorer.hpp"

namespace poolproof {
namespace {

TEST(Scopes, NamedOnesAreScopesAndTheirTextIsThem) {
  std::set<std::string> names;
  for (const std::span<const Scope> scopes : {named_scopes(), hunting_scopes()}) {
    for (const Scope& scope : scopes) {
      EXPECT_EQ(scope_fault(scope), std::nullopt) << scope.name;
      Result<Scope, std::string> again = scope_from(to_string(scope));
      ASSERT_TRUE(again.ok()) << again.error();
      again->name = scope.name;
      EXPECT_EQ(*again, scope) << to_string(scope);
      EXPECT_GT(Alphabet(scope, {}).size(), 0U) << scope.name;
    }
  }
  for (const Scope& scope : named_scopes()) {
    EXPECT_TRUE(names.insert(scope.name).second) << scope.name;
    EXPECT_EQ(find_scope(scope.name), &scope);
  }
  EXPECT_EQ(find_scope("nothing"), nullptr);
}

TEST(Scopes, WordsAreTheseOrAllButThese) {
  const auto these = scope_from("layout=token,full=2,words=extend+group_begin_again");
  ASSERT_TRUE(these.ok()) << these.error();
  EXPECT_EQ(these->words.count(), 2U);
  const auto others = scope_from("layout=token,full=2,words=-extend");
  ASSERT_TRUE(others.ok()) << others.error();
  EXPECT_EQ(others->words.count(), explorable_words(others->geometry).count() - 1);
  EXPECT_FALSE(others->words.test(static_cast<std::size_t>(OpWord::extend)));
}

std::string fault_of(const std::string& text) {
  const auto scope = scope_from(text);
  return scope ? "" : scope.error();
}

TEST(Scopes, WhatIsWrongIsSaidWithItsRemedy) {
  EXPECT_NE(fault_of("layout").find("'layout' is no KEY=VAL"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,rows=9").find("rows=9 is no whole number up to 4"),
            std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,rows=0").find("a scope has 1 to 4 rows"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,positions=0").find("1 to 32 positions"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,batch=0").find("1 to 3 pieces"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=64p").find("16 pages a pool at most"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,words=tail").find("does not explore 'tail'"), std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=2,full=2p,kv=mha").find("pools with memory are not explored"),
            std::string::npos);
  EXPECT_NE(fault_of("layout=paged,page=3,full=6").find("page"), std::string::npos);
}

TEST(Alphabets, HaveEveryWordOfTheScope) {
  for (const Scope& scope : hunting_scopes()) {
    const Alphabet alphabet(scope, {});
    OpWords words;
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
      const Op& op = alphabet.op(static_cast<MoveIndex>(i));
      words.set(static_cast<std::size_t>(word_of(op)));
      EXPECT_FALSE(op_fault(op, scope.geometry)) << print_op(op, scope.geometry);
    }
    OpWords missing = scope.words & ~words;
    if (scope.geometry.layout == Layout::pure_swa) {
      missing.reset(static_cast<std::size_t>(OpWord::tail));
    }
    EXPECT_TRUE(missing.none()) << scope.name << " " << missing;
  }
}

TEST(Alphabets, NameEachOpOnce) {
  for (const Scope& scope : hunting_scopes()) {
    const Alphabet alphabet(scope, {});
    std::set<std::string> lines;
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
      const std::string line = print_op(alphabet.op(static_cast<MoveIndex>(i)), scope.geometry);
      EXPECT_TRUE(lines.insert(line).second) << line;
    }
  }
}

/// Wherever a random walk leads, what the machine admits is among the candidates.
TEST(Alphabets, CandidatesMissNothing) {
  std::uint64_t admitted = 0;
  std::uint64_t offered = 0;
  for (const Scope& scope : hunting_scopes()) {
    const Alphabet alphabet(scope, {});
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      auto allocator = std::move(find_impl("host")->make(scope.geometry)).value();
      Machine machine(scope.geometry);
      Lockstep lockstep(machine, *allocator);
      ASSERT_FALSE(lockstep.start());
      RandomChoices choices(seed, 7);
      std::vector<MoveIndex> candidates;
      for (int step = 0; step < 60; ++step) {
        alphabet.candidates(machine, candidates);
        offered += candidates.size();
        std::vector<MoveIndex> all;
        for (std::size_t i = 0; i < alphabet.size(); ++i) {
          const auto move = static_cast<MoveIndex>(i);
          const Op& op = alphabet.op(move);
          if (!testing::in_scope(op, machine, scope) || !machine.admits(op)) {
            continue;
          }
          all.push_back(move);
          ASSERT_TRUE(std::binary_search(candidates.begin(), candidates.end(), move))
              << print_op(op, scope.geometry) << " in " << scope.name;
        }
        admitted += all.size();
        ASSERT_FALSE(all.empty());
        ASSERT_FALSE(lockstep.step(alphabet.op(all[choices.draw(all.size())])));
      }
    }
  }
  EXPECT_LT(offered, 2 * admitted);  // and most of them are admitted
}

TEST(Alphabets, AreOfWhatTheImplementationOffers) {
  const Scope scope = scope_from("layout=token,full=2").value();
  OpWords offered;
  offered.set(static_cast<std::size_t>(OpWord::extend));
  const Alphabet alphabet(scope, offered);
  ASSERT_GT(alphabet.size(), 0U);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    EXPECT_EQ(word_of(alphabet.op(static_cast<MoveIndex>(i))), OpWord::extend);
  }
}

}  // namespace
}  // namespace poolproof
