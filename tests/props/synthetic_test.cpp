// Drawn workloads: the distributions are what they say, the same everywhere, and prompts share what they should.
#include "props/workload/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "props/workload/fixed_point.hpp"

namespace poolproof {
namespace {

double real(Fixed x) { return static_cast<double>(x) / static_cast<double>(fixed_one); }
Fixed fixed(double x) { return static_cast<Fixed>(std::llround(x * static_cast<double>(fixed_one))); }

TEST(FixedPoint, PowersAndLogarithms) {
  for (double x = -10; x < 30; x += 0.037) {
    EXPECT_NEAR(real(fixed_exp2(fixed(x))) / std::exp2(x), 1, 1e-6) << x;
  }
  for (double x = 0.001; x < 1e6; x *= 1.13) {
    EXPECT_NEAR(real(fixed_log2(fixed(x))), std::log2(x), 1e-6) << x;
  }
  EXPECT_EQ(fixed_exp2(0), fixed_one);
  EXPECT_EQ(fixed_log2(fixed_one), 0);
}

TEST(FixedPoint, Distributions) {
  RandomChoices choices(1, 1);
  constexpr int draws = 50'000;
  double gaps = 0;
  double logs = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    gaps += static_cast<double>(draw_exponential(choices, 1'000'000));
    const double log = std::log(static_cast<double>(draw_lognormal(choices, 10'000, 80)) / 10'000);
    logs += log;
    squares += log * log;
  }
  EXPECT_NEAR(gaps / draws, 1'000'000, 15'000);
  EXPECT_NEAR(logs / draws, 0, 0.015);
  EXPECT_NEAR(std::sqrt(squares / draws), 0.8, 0.015);
  EXPECT_EQ(draw_lognormal(choices, 77, 0), 77);
}

std::vector<Request> all_of(const SyntheticWorkload& workload, std::uint64_t seed) {
  const RequestSource source = synthetic_requests(workload, seed);
  std::vector<Request> requests;
  for (auto next = source(); *next; next = source()) {
    requests.push_back(**next);
  }
  return requests;
}

TEST(Synthetic, SameSeedSameRequests) {
  const std::vector<Request> a = all_of({}, 1);
  const std::vector<Request> b = all_of({}, 1);
  ASSERT_EQ(a.size(), 1000U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].arrival_us, b[i].arrival_us);
    EXPECT_EQ(a[i].input_tokens, b[i].input_tokens);
  }
  EXPECT_NE(all_of({}, 2)[5].input_tokens, a[5].input_tokens);
  // As every compiler makes them.
  EXPECT_EQ(a[999].arrival_us, 102'425'004U);
  EXPECT_EQ(a[999].input_tokens, 804);
  EXPECT_EQ(a[999].output_tokens, 62);
}

TEST(Synthetic, BurstsArriveTogether) {
  SyntheticWorkload workload;
  workload.requests = 64;
  workload.burst = 16;
  std::map<std::uint64_t, int> at;
  for (const Request& request : all_of(workload, 1)) {
    ++at[request.arrival_us];
  }
  EXPECT_EQ(at.size(), 4U);
  EXPECT_EQ(at.begin()->second, 16);
}

TEST(Synthetic, SharedPrefixes) {
  SyntheticWorkload workload;
  workload.input_tokens = 4000;
  workload.input_sigma_percent = 10;
  workload.shared_percent = 50;
  workload.families = 2;
  workload.prefix_tokens = 1024;
  std::map<std::uint64_t, int> first_blocks;
  std::set<std::uint64_t> third_blocks;
  for (const Request& request : all_of(workload, 1)) {
    EXPECT_EQ(static_cast<Pos>(request.blocks.size()), (request.input_tokens + 511) / 512);
    ++first_blocks[request.blocks[0]];
    EXPECT_TRUE(third_blocks.insert(request.blocks[2]).second);
  }
  int shared = 0;
  for (const auto& [id, count] : first_blocks) {
    shared += count > 1 ? count : 0;
  }
  EXPECT_NEAR(shared, 500, 60);
}

TEST(Synthetic, Keys) {
  SyntheticWorkload workload;
  for (const char* key : {"requests", "gap_us", "burst", "input", "input_sigma", "output", "output_sigma", "longest",
                          "shared", "families", "prefix"}) {
    EXPECT_EQ(set_synthetic_key(workload, key, "7"), std::nullopt) << key;
  }
  EXPECT_EQ(workload.requests, 7U);
  EXPECT_EQ(workload.gap_us, 7U);
  EXPECT_EQ(workload.burst, 7U);
  EXPECT_EQ(workload.input_tokens, 7);
  EXPECT_EQ(workload.input_sigma_percent, 7U);
  EXPECT_EQ(workload.output_tokens, 7);
  EXPECT_EQ(workload.output_sigma_percent, 7U);
  EXPECT_EQ(workload.longest_tokens, 7);
  EXPECT_EQ(workload.shared_percent, 7U);
  EXPECT_EQ(workload.families, 7U);
  EXPECT_EQ(workload.prefix_tokens, 7);
  EXPECT_EQ(set_synthetic_key(workload, "rate", "7"),
            "a synthetic workload has no 'rate'; it has requests, gap_us, burst, input, input_sigma, output, "
            "output_sigma, longest, shared, families, prefix");
  EXPECT_EQ(set_synthetic_key(workload, "shared", "101"), "shared=101: a whole number from 0 to 100 is wanted");
  EXPECT_EQ(set_synthetic_key(workload, "input", ""), "input=: a whole number from 1 to 16777216 is wanted");
}

}  // namespace
}  // namespace poolproof
