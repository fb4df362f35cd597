#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/ops.hpp"
#include "props/workload/workload_row.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t longest_ms = std::int64_t{1} << 50;

/// Where `"key"` stands, for the caret.
std::size_t place_of_key(std::string_view line, const char* key) {
  const std::size_t at = line.find(fmt::format("\"{}\"", key));
  return at == std::string_view::npos ? 0 : at;
}

std::optional<LineFailure> read_number(std::string_view line, const Json& row, const char* key, std::int64_t least,
                                       std::int64_t most, std::int64_t& number) {
  const auto found = row.find(key);
  if (found == row.end()) {
    return LineFailure{0, fmt::format("the row has no \"{}\"", key),
                       "\"timestamp\", \"input_length\", \"output_length\" and \"hash_ids\""};
  }
  const bool whole = found->is_number_unsigned() || (found->is_number_integer() && found->get<std::int64_t>() >= 0);
  if (!whole || found->get<std::uint64_t>() > static_cast<std::uint64_t>(most) || found->get<std::int64_t>() < least) {
    return LineFailure{place_of_key(line, key), fmt::format("\"{}\" is {}", key, found->dump()),
                       fmt::format("a whole number from {} to {}", least, most)};
  }
  number = found->get<std::int64_t>();
  return std::nullopt;
}

std::optional<LineFailure> read_blocks(std::string_view line, const Json& row, Request& request) {
  request.blocks.clear();
  const auto found = row.find("hash_ids");
  if (found == row.end() || !found->is_array()) {
    return LineFailure{place_of_key(line, "hash_ids"), "\"hash_ids\" is no list", "one id for each 512 tokens begun"};
  }
  for (const Json& id : *found) {
    // The top bit marks ids of the simulation's own.
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >> 63U != 0) {
      return LineFailure{place_of_key(line, "hash_ids"), fmt::format("in \"hash_ids\" stands {}", id.dump()),
                         "whole numbers below 2^63"};
    }
    request.blocks.push_back(id.get<std::uint64_t>());
  }
  const auto wanted = static_cast<std::size_t>((request.input_tokens + prompt_block_tokens - 1) / prompt_block_tokens);
  if (request.blocks.size() != wanted) {
    return LineFailure{
        place_of_key(line, "hash_ids"), fmt::format("\"hash_ids\" has {} ids", request.blocks.size()),
        fmt::format("{}, one for each {} of the {} tokens begun", wanted, prompt_block_tokens, request.input_tokens)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LineFailure> read_mooncake_row(std::string_view line, Request& request) {
  Json row;
  try {
    row = Json::parse(line);
  } catch (const Json::parse_error& error) {
    return LineFailure{error.byte > 0 ? error.byte - 1 : 0, "this is no JSON", "one object a line"};
  } catch (const Json::out_of_range&) {
    return LineFailure{0, "a number of this line is beyond any range", "whole numbers"};
  }
  if (!row.is_object()) {
    return LineFailure{0, "this is no JSON object", "one object a line"};
  }
  std::int64_t arrival_ms = 0;
  if (auto failure = read_number(line, row, "timestamp", 0, longest_ms, arrival_ms)) {
    return failure;
  }
  if (auto failure = read_number(line, row, "input_length", 1, max_position, request.input_tokens)) {
    return failure;
  }
  if (auto failure = read_number(line, row, "output_length", 0, max_position, request.output_tokens)) {
    return failure;
  }
  request.arrival_us = static_cast<std::uint64_t>(arrival_ms) * 1000;
  return read_blocks(line, row, request);
}

}  // namespace poolproof
