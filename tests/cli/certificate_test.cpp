// Certificates: the same text again, errors that say what is wrong, and each difference told.
#include "cli/certificate.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace poolproof::cli {
namespace {

Certificate example() {
  const Scope scope = scope_from("layout=token,full=2,rows=1,positions=2,words=extend+free").value();
  const ExploreResult result = explore(scope, *find_impl("host"), {});
  EXPECT_EQ(result.end, ExploreEnd::exhausted) << result.error;
  return certificate_of("host", scope, result);
}

TEST(Certificate, IsItsText) {
  const std::string text = to_json(example());
  const Result<Certificate, std::string> again = certificate_from(text);
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(to_json(*again), text);
  EXPECT_TRUE(differences(example(), *again).empty());
}

/// The example's text with the first match replaced.
std::string changed(const std::string& from, const std::string& to) {
  const std::string text =
      std::regex_replace(to_json(example()), std::regex(from), to, std::regex_constants::format_first_only);
  EXPECT_NE(text, to_json(example())) << from;
  return text;
}

std::string error_of(const std::string& text) {
  const auto certificate = certificate_from(text);
  return certificate ? "" : certificate.error();
}

TEST(Certificate, WhatIsNoneIsSaid) {
  EXPECT_NE(error_of("").find("no certificate"), std::string::npos);
  EXPECT_NE(error_of("{").find("no certificate"), std::string::npos);
  EXPECT_NE(error_of("[1]").find("no certificate"), std::string::npos);
  EXPECT_NE(error_of("{}").find("no certificate"), std::string::npos);
  EXPECT_NE(error_of(changed("certificate\": 1", "certificate\": 2")).find("format 2 are not known here, 1 is"),
            std::string::npos);
  EXPECT_NE(error_of(changed("\"states\": [0-9]+", "\"states\": \"many\"")).find("of another kind"), std::string::npos);
  EXPECT_NE(error_of(changed("\"impl\"", "\"name\"")).find("'impl' not found"), std::string::npos);
  EXPECT_NE(error_of(changed("layout=token", "layout=tokn")).find("scope: "), std::string::npos);
  EXPECT_NE(error_of(changed("\"digest\": \"....", "\"digest\": \"xyz0")).find("16 hexadecimal digits"),
            std::string::npos);
}

TEST(Certificate, EachDifferenceIsTold) {
  const Certificate now = example();
  const auto told = [&](auto change) {
    Certificate other = now;
    change(other);
    const std::vector<std::string> lines = differences(other, now);
    return lines.size() == 1 ? lines.front() : std::to_string(lines.size()) + " differences";
  };
  EXPECT_EQ(told([](Certificate& c) { c.moves = 1; }).substr(0, 26), "ops: 1 in the certificate,");
  EXPECT_TRUE(told([](Certificate& c) { c.exhausted = false; }).starts_with("exhausted: false in"));
  EXPECT_TRUE(told([](Certificate& c) { c.depth = 1; }).starts_with("depth: 1 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.states = 1; }).starts_with("states: 1 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.transitions = 1; }).starts_with("transitions: 1 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.refused = 999; }).starts_with("refused: 999 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.sequences = 1; }).starts_with("sequences: 1 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.layers[1] = 99; }).starts_with("states at depth 1: 99 in"));
  EXPECT_TRUE(told([](Certificate& c) { c.layers.push_back(0); }).starts_with("depths with states: "));
  EXPECT_TRUE(told([](Certificate& c) { c.digest = 0; }).starts_with("digest: 0000000000000000 in"));
}

TEST(Certificate, SaysHowLikelyItMissedAState) {
  EXPECT_LT(chance_of_a_missed_state(10'000'000), 3e-6);
  EXPECT_GT(chance_of_a_missed_state(10'000'000), 2e-6);
}

}  // namespace
}  // namespace poolproof::cli
