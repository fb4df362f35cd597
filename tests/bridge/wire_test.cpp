// The protocol's lines: what is written is read back, and no line, however broken, does more than be refused.
#include "impl/bridge/wire.hpp"

#include <gtest/gtest.h>

#include "props/choices.hpp"

namespace poolproof {
namespace {

Geometry small() {
  Geometry g;
  g.layout = Layout::hybrid;
  g.page = 4;
  g.full = 32;
  g.swa = 24;
  g.window = 6;
  g.reqs = 2;
  return g;
}

Call lending() {
  Call call;
  call.method = Method::alloc_extend;
  call.prefix_lens = {0, 4};
  call.seq_lens = {6, 9};
  call.locs = {{-1, 1}, {7, 1}};
  return call;
}

/// One call of each shape.
std::vector<Call> script() {
  std::vector<Call> calls{lending()};
  const auto add = [&](Method method) -> Call& {
    calls.emplace_back().method = method;
    return calls.back();
  };
  add(Method::translate).locs = {{0, 6, 0}, {0, 2, 0, 2}, {4, 1}};
  Call& tail = add(Method::alloc_extend_swa_tail);
  tail.prefix_lens = {0};
  tail.seq_lens = {9};
  tail.locs = {{-1, 1}};
  tail.first = 1;
  tail.second = 9;
  Call& decode = add(Method::alloc_decode);
  decode.seq_lens = {7};
  decode.locs = {{5, 1, 0}};
  add(Method::alloc).first = 8;
  add(Method::free_segments).segments = {{{{0, 4, 0}}, 0}, {{{40, 2}}, 8}};
  add(Method::free_group_begin).again = true;
  Call& set = add(Method::set_full_to_swa_mapping);
  set.locs = {{4, 4}};
  set.swa = {{8, 4}};
  add(Method::take_slot);
  add(Method::give_slot).slot.of = 8;
  Call& write = add(Method::write_swa);
  write.locs = {{4, 2}};
  write.slot.slot = 1;
  write.first = 3;
  write.stamps = {18446744073709551615U, 7};
  add(Method::read_full).locs = {{4, 2}};
  Call& resize = add(Method::resize);
  resize.first = 16;
  resize.second = 8;
  add(Method::backup_state).first = 3;
  add(Method::gauges);
  add(Method::census);
  return calls;
}

TEST(Wire, RequestsAreReadBackAsTheyWereWritten) {
  const std::string line = write_run(script());
  const auto request = read_request(line);
  ASSERT_TRUE(request.ok()) << request.error();
  EXPECT_EQ(write_run(std::get<RunRequest>(*request).calls), line);
  EXPECT_EQ(line.find('\n'), std::string::npos);

  const auto reset = read_request(write_reset(small()));
  ASSERT_TRUE(reset.ok()) << reset.error();
  EXPECT_EQ(std::get<Geometry>(*reset), small());
}

/// An answer to each call of script().
std::vector<Reply> replies() {
  std::vector<Reply> all(script().size());
  all[0].locs = {4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16};
  all[1].locs = {4, 5, 6, 7, 8, 9, 10, 0, 0};
  all[2].answer = Answer::refused;
  all[3].locs = {10};
  all[8].slot = 2;
  all[11].stamps = {1, 18446744073709551615U};
  ToldGauges gauges;
  gauges.available = 8;
  gauges.mapping_tail = -1;
  all[14].gauges = gauges;
  all[15].census =
      ToldCensus{{{5, 6, 7}, {}, std::vector<std::int64_t>{3}}, {{1}, {2}, std::nullopt}, {{4, 4, 2}}, {1}};
  return all;
}

TEST(Wire, AnswersAreReadBackAsTheyWereWritten) {
  const std::vector<Call> calls = script();
  const std::string line = write_run_answer(calls, replies());
  const auto read = read_run_answer(line, calls, small());
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(write_run_answer(calls, *read), line);
  EXPECT_EQ((*read)[0].locs, replies()[0].locs);
  EXPECT_EQ((*read)[15].census->full.deferred, (std::vector<std::int64_t>{3}));
  EXPECT_FALSE((*read)[15].census->swa.deferred.has_value());
}

TEST(Wire, AnErrorEndsTheLine) {
  const std::vector<Call> calls = script();
  const auto read = read_run_answer(R"({"answers":[{"error":{"type":"E","text":"t","where":"w"}}]})", calls, small());
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->size(), 1U);
  EXPECT_EQ((*read)[0].error->where, "w");
  const std::vector<Call> frees{calls[5], calls[5]};
  EXPECT_EQ(read_run_answer(R"({"answers":[{"error":"e"},{}]})", frees, small()).error(),
            "answers: an error must be the last answer of its line");
}

TEST(Wire, WhatIsWrongIsNamedWithItsPlace) {
  const std::vector<Call> calls{lending()};
  const auto says = [&](const char* line, const char* expected) {
    const auto read = read_run_answer(line, calls, small());
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_EQ(read.error(), expected);
  };
  says("[]", "expected an object, got []");
  says("nonsense", "it is no JSON: nonsense");
  says(R"({"answers":[]})", "answers: expected 1, got 0");
  says(R"({"answers":[{},{}]})", "answers[0].locs: expected a list, got null");
  says(R"({"answers":[7]})", "answers[0]: expected an object, got 7");
  says(R"({"answers":[{"locs":[4]}]})", "answers[0].locs[0]: expected a run [first, count], got 4");
  says(R"({"answers":[{"locs":[[4,-1]]}]})", "answers[0].locs[0]: expected a whole number from 0, got -1");
  says(R"({"answers":[{"locs":[[4,1.5]]}]})", "answers[0].locs[0]: expected a whole number from 0, got 1.5");
  says(R"({"answers":[{"locs":[[4,1000000]]}]})",
       "answers[0].locs[0]: expected at most 4118 entries in all, got [4,1000000]");
  says(R"({"answers":[{"refused":1}]})", "answers[0].refused: expected true or false, got 1");
}

/// Bytes changed, cut out, doubled, values swapped for extreme ones.
std::string mangled(std::string line, Choices& choices) {
  static const std::vector<std::string> values{"null", "-1",   "[]",  "{}", "1e400", "9223372036854775807",
                                               "\"",   "[[[[", "true"};
  const std::int64_t times = choices.between(1, 4);
  for (std::int64_t i = 0; i < times && !line.empty(); ++i) {
    const std::size_t at = choices.draw(line.size());
    switch (choices.draw(5)) {
      case 0:
        line[at] = static_cast<char>(choices.draw(256));
        break;
      case 1:
        line.erase(at, static_cast<std::size_t>(choices.between(1, 8)));
        break;
      case 2:
        line.insert(at, line.substr(at, static_cast<std::size_t>(choices.between(1, 20))));
        break;
      case 3:
        line.resize(at);
        break;
      default: {
        const std::size_t end = line.find_first_of(",]}", at);
        line.replace(at, (end == std::string::npos ? line.size() : end) - at, values[choices.draw(values.size())]);
      }
    }
  }
  return line;
}

TEST(Wire, NoLineDoesMoreThanBeRefused) {
  const std::vector<Call> calls = script();
  Capabilities capabilities;
  capabilities.name = "fuzzed";
  capabilities.pools.resize(2);
  for (PoolKind& kind : capabilities.pools) {
    kind.offers.set();
  }
  const std::vector<std::string> lines{write_run(calls),         write_run_answer(calls, replies()),
                                       write_reset(small()),     write_capabilities(capabilities),
                                       write_reset_answer("no"), write_hello("1")};
  std::size_t refused = 0;
  constexpr std::uint64_t rounds = 20'000;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    RandomChoices choices(7, i);
    const std::string line = mangled(lines[i % lines.size()], choices);
    refused += read_request(line).ok() ? 0 : 1;
    refused += read_run_answer(line, calls, small()).ok() ? 0 : 1;
    refused += read_hello_answer(line).ok() ? 0 : 1;
    refused += read_reset_answer(line).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds * 3);  // some mangled lines are still right, most are not
}

}  // namespace
}  // namespace poolproof
