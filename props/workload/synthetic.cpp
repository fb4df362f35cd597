#include "props/workload/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/number.hpp"
#include "model/ops.hpp"
#include "props/choices.hpp"
#include "props/workload/fixed_point.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t arrival_stream = 0x61727269;
constexpr std::uint64_t length_stream = 0x6c656e67;

struct SyntheticKey {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  void (*set)(SyntheticWorkload&, std::int64_t);
};

constexpr std::int64_t most_requests = std::int64_t{1} << 40;

constexpr std::array<SyntheticKey, 11> keys{{
    {"requests", 1, most_requests,
     [](SyntheticWorkload& w, std::int64_t v) { w.requests = static_cast<std::uint64_t>(v); }},
    {"gap_us", 0, 1'000'000'000,
     [](SyntheticWorkload& w, std::int64_t v) { w.gap_us = static_cast<std::uint64_t>(v); }},
    {"burst", 1, 1'000'000, [](SyntheticWorkload& w, std::int64_t v) { w.burst = static_cast<std::uint64_t>(v); }},
    {"input", 1, 1 << 24, [](SyntheticWorkload& w, std::int64_t v) { w.input_tokens = v; }},
    {"input_sigma", 0, 300,
     [](SyntheticWorkload& w, std::int64_t v) { w.input_sigma_percent = static_cast<std::uint32_t>(v); }},
    {"output", 1, 1 << 24, [](SyntheticWorkload& w, std::int64_t v) { w.output_tokens = v; }},
    {"output_sigma", 0, 300,
     [](SyntheticWorkload& w, std::int64_t v) { w.output_sigma_percent = static_cast<std::uint32_t>(v); }},
    {"longest", 1, 1 << 24, [](SyntheticWorkload& w, std::int64_t v) { w.longest_tokens = v; }},
    {"shared", 0, 100, [](SyntheticWorkload& w, std::int64_t v) { w.shared_percent = static_cast<std::uint32_t>(v); }},
    {"families", 1, 1 << 20, [](SyntheticWorkload& w, std::int64_t v) { w.families = static_cast<std::uint32_t>(v); }},
    {"prefix", 1, 1 << 24, [](SyntheticWorkload& w, std::int64_t v) { w.prefix_tokens = v; }},
}};

std::string known_keys() {
  std::string names;
  for (const SyntheticKey& key : keys) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  }
  return names;
}

class SyntheticRequests {
 public:
  SyntheticRequests(const SyntheticWorkload& workload, std::uint64_t seed)
      : workload_(workload), arrivals_(seed, arrival_stream), lengths_(seed, length_stream) {}

  Result<std::optional<Request>, TextError> operator()() {
    if (made_ == workload_.requests) {
      return std::optional<Request>();
    }
    if (made_ > 0 && made_ % workload_.burst == 0) {
      now_us_ += draw_exponential(arrivals_, workload_.gap_us * workload_.burst);
    }
    Request request;
    request.arrival_us = now_us_;
    request.input_tokens = length(workload_.input_tokens, workload_.input_sigma_percent);
    request.output_tokens = length(workload_.output_tokens, workload_.output_sigma_percent);
    add_blocks(request);
    ++made_;
    return std::optional(std::move(request));
  }

 private:
  Pos length(Pos median, std::uint32_t sigma_percent) {
    return std::min(workload_.longest_tokens, draw_lognormal(lengths_, median, sigma_percent));
  }

  /// Ids as a trace with hashes has them: a family's for its beginning, the request's own behind it.
  void add_blocks(Request& request) {
    if (workload_.shared_percent == 0) {
      return;
    }
    const bool shares = lengths_.odds(workload_.shared_percent, 100);
    const std::uint64_t family = lengths_.draw(workload_.families);
    const Pos alike = shares ? std::min(workload_.prefix_tokens, request.input_tokens) / prompt_block_tokens : 0;
    const Pos blocks = (request.input_tokens + prompt_block_tokens - 1) / prompt_block_tokens;
    for (Pos i = 0; i < blocks; ++i) {
      const std::uint64_t owner = i < alike ? family : workload_.families + made_;
      request.blocks.push_back(owner << 16U | static_cast<std::uint64_t>(i));
    }
  }

  SyntheticWorkload workload_;
  RandomChoices arrivals_;
  RandomChoices lengths_;
  std::uint64_t made_ = 0;
  std::uint64_t now_us_ = 0;
};

}  // namespace

std::optional<std::string> set_synthetic_key(SyntheticWorkload& workload, std::string_view key,
                                             std::string_view value) {
  const auto* const found =
      std::find_if(keys.begin(), keys.end(), [&](const SyntheticKey& known) { return known.name == key; });
  if (found == keys.end()) {
    return fmt::format("a synthetic workload has no '{}'; it has {}", key, known_keys());
  }
  bool overflow = false;
  const auto number = whole_number(value, overflow);
  if (!number || *number < found->least || *number > found->most) {
    return fmt::format("{}={}: a whole number from {} to {} is wanted", key, value, found->least, found->most);
  }
  found->set(workload, *number);
  return std::nullopt;
}

RequestSource synthetic_requests(const SyntheticWorkload& workload, std::uint64_t seed) {
  return SyntheticRequests(workload, seed);
}

}  // namespace poolproof
