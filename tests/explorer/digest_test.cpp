// Digests: what decides the future counts, and nothing else does.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fuzz/explorer/alphabet.hpp"
#include "fuzz/explorer/shortest.hpp"
#include "impl/ranks.hpp"
#include "model/state_digest.hpp"
#include "model/trace_text.hpp"
#include "props/choices.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

std::uint64_t digest_of(const Machine& machine, const Allocator& allocator) {
  GenerationNames names;
  machine.name_generations(names);
  StateDigest digest(names);
  machine.digest(digest);
  EXPECT_TRUE(allocator.digest(digest));
  return digest.value();
}

std::uint64_t after(const std::string& pool, const std::string& ops) {
  const auto trace = parse_trace("poolproof 1\npool " + pool + "\n" + ops, "digest");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().render());
  auto allocator = std::move(find_impl("host")->make(trace->geometry)).value();
  Machine machine(trace->geometry);
  Lockstep lockstep(machine, *allocator);
  EXPECT_FALSE(lockstep.start());
  for (const Op& op : trace->ops) {
    const auto verdict = lockstep.step(op);
    EXPECT_FALSE(verdict) << print_op(op, trace->geometry) << ": " << verdict->what;
  }
  return digest_of(machine, *allocator);
}

const std::string token = "layout=token full=2";
const std::string hybrid = "layout=hybrid page=1 full=2 swa=2 window=1";
const std::string ring = "layout=hybrid page=1 full=2 swa=2 ring=2 window=1 reqs=2";

TEST(Digest, RowsAreInterchangeable) {
  EXPECT_EQ(after(token, "extend r0 0..1\n"), after(token, "extend r1 0..1\n"));
  EXPECT_EQ(after(token, "extend r0 0..1\nextend r1 0..1\nwrite r1 0..1\n"),
            after(token, "extend r1 0..1\nextend r0 0..1\nwrite r0 0..1\n"));
  EXPECT_EQ(after(ring, "slot r0\nextend r0 0..1\nwrite r0 0..1\n"),
            after(ring, "slot r1\nextend r1 0..1\nwrite r1 0..1\n"));
}

TEST(Digest, PagesAreNot) {
  EXPECT_NE(after(token, "extend r0 0..1\nextend r1 0..1\nwrite r1 0..1\n"),
            after(token, "extend r0 0..1\nextend r1 0..1\nwrite r0 0..1\n"));
}

TEST(Digest, LendingsAreNotCounted) {
  const std::string once = "extend r0 0..1\n";
  EXPECT_EQ(after(token, once + "free r0 0..1\n"), after(token, ""));
  EXPECT_EQ(after(token, once + "free r0 0..1\n" + once), after(token, once));
  EXPECT_EQ(after(hybrid, once + "free r0 0..1\n" + once), after(hybrid, once));
}

TEST(Digest, KvThatNoReadIsDueIsNobodys) {
  EXPECT_EQ(after(token, "extend r0 0..1\nwrite r0 0..1\nfree r0 0..1\n"), after(token, ""));
  EXPECT_EQ(after(ring, "slot r0\nextend r0 0..1\nwrite r0 0..1\nfree r0 0..1\nunslot r0\n"),
            after(ring, "slot r0\nunslot r0\n"));
}

TEST(Digest, KvThatAReadIsDueCounts) {
  EXPECT_NE(after(token, "extend r0 0..1\nwrite r0 0..1\n"), after(token, "extend r0 0..1\n"));
  EXPECT_NE(after(hybrid, "extend r0 0..1\nwrite r0 0..1\n"), after(hybrid, "extend r0 0..1\n"));
  EXPECT_NE(after(ring, "slot r0\nextend r0 0..1\nwrite r0 0..1\n"), after(ring, "slot r0\nextend r0 0..1\n"));
}

TEST(Digest, ABackupKeepsTheKvOfItsLendings) {
  const std::string kept = "backup b0\nfree r0 0..1\n";
  EXPECT_NE(after(token, "extend r0 0..1\nwrite r0 0..1\n" + kept), after(token, "extend r0 0..1\n" + kept));
  EXPECT_NE(after(token, "extend r0 0..1\n" + kept), after(token, ""));
}

TEST(Digest, WhatAnOpLeavesBehindCounts) {
  const std::string begin = "extend r0 0..2\n";
  const std::uint64_t before = after(hybrid, begin);
  for (const std::string op : {"trim r0 2\n", "group_begin\n", "free_swa r0 0..1\n", "copy r1 0..1 = r0\n",
                               "group_begin\nfree r0 0..1\n", "backup b0\n", "write r0 0..1\n"}) {
    EXPECT_EQ(after(hybrid, begin + op) == before, op == "trim r0 2\n") << op;
  }
  EXPECT_NE(after(hybrid, begin + "group_begin\nfree r0 0..1\n"), after(hybrid, begin + "free r0 0..1\n"));
  EXPECT_NE(after("layout=token full=2 reqs=1", "slot r0\n"), after("layout=token full=2 reqs=1", ""));
  EXPECT_NE(after(token, "resize full=1\n"), after(token, ""));
}

/// Every planted fault hides its state as it likes: a copy of it is it, and shows so.
TEST(Copies, GoOnAsTheOriginal) {
  std::size_t copied = 0;
  for (const ImplInfo& each : builtin_impls()) {
    if (each.memory || (each.missing && each.missing())) {
      continue;
    }
    const ImplInfo& impl = with_ranks(each, 1);
    for (const Scope& scope : hunting_scopes()) {
      if (!impl.supports(scope.geometry)) {
        continue;
      }
      const Alphabet alphabet(scope, {});
      auto original = std::move(impl.make(scope.geometry)).value();
      Machine machine(scope.geometry);
      Lockstep lockstep(machine, *original);
      if (lockstep.start()) {
        continue;  // it fails before there is anything to copy
      }
      auto assigned = original->clone();
      Machine machine_of_assigned(machine);
      RandomChoices choices(1, copied);
      std::vector<MoveIndex> moves;
      for (int step = 0; step < 60; ++step) {
        const auto clone = original->clone();
        Machine machine_of_clone(machine);
        machine_of_assigned = machine;
        if (!assigned->assign(*original)) {
          assigned = original->clone();
        }
        ASSERT_EQ(digest_of(machine_of_clone, *clone), digest_of(machine, *original)) << impl.name;
        ASSERT_EQ(digest_of(machine_of_assigned, *assigned), digest_of(machine, *original)) << impl.name;
        alphabet.candidates(machine, moves);
        const Op& op = alphabet.op(moves[choices.draw(moves.size())]);
        Lockstep of_clone(machine_of_clone, *clone);
        Lockstep of_assigned(machine_of_assigned, *assigned);
        const auto verdict = lockstep.step(op);
        const auto verdict_of_clone = of_clone.step(op);
        const auto verdict_of_assigned = of_assigned.step(op);
        ASSERT_EQ(verdict.has_value(), verdict_of_clone.has_value()) << impl.name;
        ASSERT_EQ(verdict.has_value(), verdict_of_assigned.has_value()) << impl.name;
        if (verdict && !verdict->caller_fault()) {
          break;
        }
        ASSERT_EQ(digest_of(machine_of_clone, *clone), digest_of(machine, *original)) << impl.name;
        ASSERT_EQ(digest_of(machine_of_assigned, *assigned), digest_of(machine, *original)) << impl.name;
      }
      ++copied;
    }
  }
  EXPECT_GT(copied, 300U);
}

}  // namespace
}  // namespace poolproof
