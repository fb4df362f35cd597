// Traces about the memory behind the pools: what lockstep says of each fault, what callers must not do, and what an
// implementation answers that knows no memory.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "impl/pool_memory.hpp"
#include "impl/ranks.hpp"
#include "impl/registry.hpp"
#include "impl/saver/demand.hpp"
#include "impl/saver/saver_impls.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"
#include "props/lockstep.hpp"
#include "props/workload/simulation.hpp"
#include "props/workload/synthetic.hpp"

namespace poolproof {
namespace {

constexpr const char* hybrid = "layout=hybrid page=4 full=4p swa=4p window=4 reqs=2 kv=dsa weights=5000";

Trace trace_of(const std::string& pool, const std::string& ops) {
  auto trace = parse_trace("poolproof 1\npool " + pool + "\n" + ops, "test");
  EXPECT_TRUE(trace.ok()) << trace.error().render();
  return trace.ok() ? *trace : Trace{};
}

/// "SAVER_FREES at 1: what; expected; seen", or "holds".
std::string verdict_of(const std::string& impl, const std::string& pool, const std::string& ops) {
  const RunResult run = run_and_pin(trace_of(pool, ops), *find_impl(impl));
  EXPECT_EQ(run.build_error, "");
  if (!run.verdict) {
    return "holds";
  }
  const Verdict& v = *run.verdict;
  std::string text(cause_id(v.cause));
  text +=
      " at " + std::to_string(v.op) + (v.other_op == 0 ? "" : " with " + std::to_string(v.other_op)) + ": " + v.what;
  return text + (v.expected.empty() ? "" : "; " + v.expected + "; " + v.seen);
}

TEST(Memory, AGoodCallerAndAGoodSaverHold) {
  const std::string ops =
      "extend r0 0..8\nwrite r0 0..8\nread r0 0..8\npause kv_cache\nextend r1 0..4\npause kv_cache\nexpect refused\n"
      "pause weights\nresume all\nresume all\nexpect refused\nwrite r0 0..8\nread r0 0..8\nflush\nextend r0 0..4\n"
      "write r0 0..4\npause all\ndestroy\nresume weights\nbuild\nextend r0 0..4\nwrite r0 0..4\nread r0 0..4\n";
  EXPECT_EQ(verdict_of("saver", hybrid, ops), "holds");
}

TEST(Memory, WithBackupContentOutlivesAPause) {
  const std::string ops = "extend r0 0..8\nwrite r0 0..8\npause all\nresume all\nread r0 0..8\n";
  EXPECT_EQ(verdict_of("saver", std::string(hybrid) + " saver=backup", ops), "holds");
  EXPECT_EQ(verdict_of("saver", "layout=hybrid page=4 full=4p swa=4p ring=6 window=4 reqs=2 kv=mha saver=backup",
                       "slot r0\n" + ops),
            "holds");
}

TEST(Memory, WithTheSaverOffAPauseIsNothing) {
  const std::string ops =
      "extend r0 0..8\nwrite r0 0..8\npause kv_cache\nexpect served\npause kv_cache\nexpect served\nread r0 0..8\n"
      "resume all\nread r0 0..8\ndestroy\nbuild\n";
  EXPECT_EQ(verdict_of("saver", std::string(hybrid) + " saver=off", ops), "holds");
}

TEST(Memory, CallersThatTouchPausedMemoryAreToldSo) {
  EXPECT_EQ(verdict_of("saver", hybrid, "extend r0 0..4\npause kv_cache\nwrite r0 0..4\n"),
            "C11 at 3 with 2: write while kv_cache is paused");
  EXPECT_EQ(verdict_of("saver", hybrid, "extend r0 0..4\nwrite r0 0..4\npause all\nread r0 0..4\n"),
            "C11 at 4 with 3: read while kv_cache is paused");
  EXPECT_EQ(verdict_of("saver", hybrid, "extend r0 0..4\npause weights\nwrite r0 0..4\nread r0 0..4\n"), "holds");
}

// The pause that took it is named, not the last one.
TEST(Memory, CallersThatReadWhatWentInAPauseAreToldWhichOne) {
  const std::string cycle = "pause kv_cache\nresume kv_cache\n";
  EXPECT_EQ(verdict_of("saver", hybrid, "extend r0 0..4\nwrite r0 0..4\n" + cycle + cycle + "read r0 0..4\n"),
            "C11 at 7 with 3: r0's position 0 (F:1.0) went with the pause and was not written since: KV_FRESH cannot "
            "hold");
  EXPECT_EQ(verdict_of("saver", hybrid, "extend r0 0..4\n" + cycle + "write r0 0..2\nread r0 0..3\n"),
            "C2 at 5 with 1: r0 never wrote position 2 (F:1.2)");
  EXPECT_EQ(
      verdict_of("saver", "layout=hybrid page=4 full=4p swa=4p ring=6 window=4 reqs=2 kv=mla",
                 "slot r0\nextend r0 0..4\nwrite r0 0..4\n" + cycle + "slot r1\ncopy r1 0..4 = r0\nread r0 0..4\n"),
      "C11 at 8 with 4: r0's position 0 (F:1.0) went with the pause and was not written since: KV_FRESH cannot "
      "hold");
}

TEST(Memory, NothingIsAskedOfPoolsThatAreDestroyed) {
  EXPECT_EQ(verdict_of("saver", hybrid, "destroy\nextend r0 0..4\n"),
            "C11 at 2 with 1: extend between destroy and build");
  EXPECT_EQ(verdict_of("saver", hybrid, "destroy\npause all\n"), "C11 at 2 with 1: pause between destroy and build");
  EXPECT_EQ(verdict_of("saver", hybrid, "destroy\ndestroy\n"), "C11 at 2 with 1: destroy between destroy and build");
  EXPECT_EQ(verdict_of("saver", hybrid, "build\n"), "C11 at 1: build, and the pools are there");
  EXPECT_EQ(verdict_of("saver", hybrid, "destroy\npause weights\nresume weights\nbuild\n"), "holds");
  EXPECT_EQ(verdict_of("saver", hybrid, "group {\nflush\n}\n"), "C6 at 2 with 1: flush inside an open free group");
  EXPECT_EQ(verdict_of("saver", hybrid, "group {\ndestroy\n}\n"), "C6 at 2 with 1: destroy inside an open free group");
}

TEST(Memory, FaultsAreSaidInWords) {
  EXPECT_EQ(verdict_of("saver-index-outside", hybrid, "pause kv_cache\n"),
            "SAVER_FREES at 1: full.index_k.0 was built outside of its region and stays resident (2640 bytes); in the "
            "region of 'kv_cache'; in no region");
  EXPECT_EQ(
      verdict_of("saver-no-flag", hybrid, "pause kv_cache\n"),
      "SAVER_FREES at 1: full.kv.0 and 2 other buffers were built outside of their region and stay resident (48720 "
      "bytes); in the region of 'kv_cache'; in no region");
  EXPECT_EQ(
      verdict_of("saver-foreign-tag", hybrid, "pause kv_cache\n"),
      "SAVER_FREES at 1: full.kv.0 and 1 other buffer were built outside of their region and stay resident (25680 "
      "bytes); in the region of 'kv_cache'; in the region of 'weights'");
  EXPECT_EQ(verdict_of("saver-foreign-tag", hybrid, "pause weights\n"),
            "SAVER_TAGGED at 1: full.kv.0 is under tag 'kv_cache', and it was paused; 23040 bytes, resident; 23040 "
            "bytes, paused");
  EXPECT_EQ(verdict_of("saver-keeps-handle", hybrid, "pause kv_cache\n"),
            "SAVER_FREES at 1: full.kv.0 is paused and its memory was not given back; 0 bytes resident; 24576 bytes");
  EXPECT_EQ(verdict_of("saver-moves", hybrid, "pause weights\nresume weights\n"),
            "SAVER_STABLE at 2: weights moved; at the address that it was built at; at another address");
  EXPECT_EQ(verdict_of("saver-resume-shrinks", hybrid, "pause weights\nresume weights\n"),
            "SAVER_STABLE at 2: weights changed its size; 5000 bytes; 2500 bytes");
  EXPECT_EQ(verdict_of("saver-backup-tail", hybrid, "pause weights\nresume weights\n"),
            "SAVER_ZERO at 2: weights did not come back as it was backed up; what was backed up; other content");
  EXPECT_EQ(verdict_of("saver-resume-dirty", hybrid, "pause kv_cache\nresume kv_cache\n"),
            "SAVER_ZERO at 2: full.kv.0 does not read zero after the resume; zero throughout; content from before the "
            "pause, or somebody else's");
  EXPECT_EQ(verdict_of("saver-pause-twice", hybrid, "pause weights\npause weights\n"),
            "SAVER_STABLE at 2: pause was served, and some of the memory is paused already; refused; served");
  EXPECT_EQ(verdict_of("saver-off-acts", std::string(hybrid) + " saver=off", "pause kv_cache\n"),
            "SAVER_OFF at 1: the saver is off, and full.kv.0 is not as it was: it was paused; 23040 bytes, resident; "
            "23040 bytes, paused");
  EXPECT_EQ(
      verdict_of("B92", hybrid, "extend r0 0..1\nwrite r0 0..1\npause kv_cache\n"),
      "KV_INTACT at 3: KV was written, and full.kv.0 reads zero throughout: it is not the memory in use; what was "
      "written; zero");
  EXPECT_TRUE(verdict_of("saver-destroy-leaks", hybrid, "destroy\n")
                  .starts_with("SAVER_FREES at 1: destroy did not give all memory of the pools back; -"));
}

/// A saver that refuses every call, whatever its turn.
class RefusesAll final : public SavedPools {
 public:
  using SavedPools::SavedPools;
  Answer pause(MemoryTag /*tag*/) override { return Answer::refused; }
  Answer resume(MemoryTag /*tag*/) override { return Answer::refused; }
};

/// One that leaves something undone in what it builds anew.
class BuildsLess final : public SavedPools {
 public:
  using SavedPools::SavedPools;
  Answer build() override {
    const Answer answer = SavedPools::build();
    demand(saver().free(buffers().back().id));
    return answer;
  }
};

template <typename Pools>
std::string verdict_with(const std::string& pool, const std::string& ops) {
  SaverParts parts;
  parts.pools = [](const Geometry& g, std::unique_ptr<MemorySaver> saver, std::unique_ptr<PoolBuilder> builder) {
    return std::make_shared<Pools>(g, std::move(saver), std::move(builder));
  };
  const auto memory = (*open_saver("saver"))->memory;
  const RunResult run = run_and_pin(trace_of(pool, ops), saver_on("odd", memory, parts));
  return run.verdict ? std::string(cause_id(run.verdict->cause)) + ": " + run.verdict->what : "holds";
}

TEST(Memory, ARefusalOutOfTurnIsSeenWithTheSaverOnAndOff) {
  EXPECT_EQ(verdict_with<RefusesAll>(hybrid, "pause kv_cache\n"),
            "SERVED_WHEN_FITS: none of the memory is paused, and pause was refused");
  EXPECT_EQ(verdict_with<RefusesAll>(std::string(hybrid) + " saver=off", "resume kv_cache\n"),
            "SAVER_OFF: the saver is off, and resume was refused");
}

TEST(Memory, ABuildThatForgetsABufferIsSeen) {
  EXPECT_EQ(verdict_with<BuildsLess>(hybrid, "destroy\nbuild\n"), "SAVER_STABLE: swa.kv.0 is not of its planned size");
}

TEST(Memory, ImplementationsWithoutMemorySaySo) {
  const Geometry g = trace_of(hybrid, "").geometry;
  for (const char* name : {"host", "cuda-host", "B20"}) {
    EXPECT_FALSE(find_impl(name)->supports(g)) << name;
    const auto made = find_impl(name)->make(g);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_EQ(made.error(),
              std::string(name) + " does not build the memory of its pools; leave kv out, or take --impl saver");
  }
  Geometry bare = g;
  bare.kv = {};
  const auto made = find_impl("saver")->make(bare);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error(), "saver builds the memory of its pools; give kv=mha, kv=mla or kv=dsa");
}

TEST(Memory, ReplicasOfPoolsWithMemoryAreTurnedAway) {
  const auto made = with_ranks(*find_impl("saver-no-flag"), 2).make(trace_of(hybrid, "").geometry);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error(),
            "saver-no-flag builds the memory of its pools, and replicas of those are not compared; leave "
            "--ranks out");
}

TEST(Memory, AWorkloadOnPoolsWithMemoryIsMadeAgain) {
  ServingOptions serving;
  serving.geometry = trace_of("layout=paged page=4 full=64p reqs=8 kv=mha", "").geometry;
  EXPECT_EQ(simulated_trace(serving, synthetic_requests({}, 1), 50).ops.size(), 50U);
}

TEST(Memory, PoolsInASaverAreNotCopied) {
  const auto made = find_impl("saver")->make(trace_of(hybrid, "").geometry);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->clone(), nullptr);
}

TEST(Memory, ACampaignRunsOnPoolsWithMemoryAndReachesAllOfTheirWords) {
  CampaignOptions options;
  options.impls = {find_impl("saver")};
  options.traces = 1500;
  const CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.canary_caught) << report.canary_says;
  const ImplOutcome& outcome = report.outcomes.at(0);
  EXPECT_FALSE(outcome.finding);
  for (const OpWord word : {OpWord::pause, OpWord::resume, OpWord::destroy, OpWord::build, OpWord::flush}) {
    EXPECT_GT(outcome.coverage.served(word), 100U) << op_word_name(word);
  }
  EXPECT_GT(outcome.coverage.refused(OpWord::pause), 50U);
  EXPECT_GT(outcome.coverage.refused(OpWord::resume), 50U);
  EXPECT_EQ(outcome.coverage.served(OpWord::resize), 0U);
}

}  // namespace
}  // namespace poolproof
