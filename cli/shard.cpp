#include "cli/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace poolproof::cli {
namespace {

using Number = std::optional<std::uint32_t>;

Number number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? Number(value) : std::nullopt;
}

Result<Shard, Complaint> checked(Number index, Number count, const std::string& said, std::string source) {
  if (!index || !count || *count == 0 || *index >= *count) {
    return Complaint{fmt::format("{} is no shard: the index runs from 0 to one below the count, as in 0/4", said)};
  }
  return Shard{*index, *count, std::move(source)};
}

Result<Shard, Complaint> of_option(const std::string& option) {
  const std::size_t slash = std::min(option.find('/'), option.size());
  const std::string_view text = option;
  return checked(number(text.substr(0, slash)), number(text.substr(std::min(slash + 1, text.size()))),
                 fmt::format("--shard {}", option), "--shard");
}

Result<Shard, Complaint> of_googletest(const std::string& index, const std::string& count) {
  return checked(number(index), number(count),
                 fmt::format("GTEST_SHARD_INDEX={} of GTEST_TOTAL_SHARDS={}", index, count),
                 "GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS");
}

struct SlurmArray {
  std::string id;     ///< SLURM_ARRAY_TASK_ID
  std::string first;  ///< SLURM_ARRAY_TASK_MIN
  std::string count;  ///< SLURM_ARRAY_TASK_COUNT
  std::string step;   ///< SLURM_ARRAY_TASK_STEP
};

Result<Shard, Complaint> of_slurm(const SlurmArray& array) {
  const std::string said = fmt::format(
      "SLURM_ARRAY_TASK_ID={} in an array from SLURM_ARRAY_TASK_MIN={} by SLURM_ARRAY_TASK_STEP={} of "
      "SLURM_ARRAY_TASK_COUNT={} tasks",
      array.id, array.first, array.step, array.count);
  const Number id = number(array.id);
  const Number first = number(array.first);
  const Number count = number(array.count);
  const Number step = number(array.step);
  const bool regular = id && first && count && step && *step > 0 && *id >= *first && (*id - *first) % *step == 0 &&
                       (*id - *first) / *step < *count;
  if (!regular) {
    return Complaint{
        fmt::format("{} is no shard: all four must be set, and the task must be one of first, first + step, ... For "
                    "an array of another shape say --shard I/N",
                    said)};
  }
  return Shard{(*id - *first) / *step, *count, "SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT"};
}

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<Complaint> touch_status_file() {
  const std::string path = own_environment("GTEST_SHARD_STATUS_FILE").value_or("");
  if (path.empty()) {
    return std::nullopt;
  }
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) {
    return Complaint{fmt::format("GTEST_SHARD_STATUS_FILE={}: cannot be written: {}; name a file that can, or unset it",
                                 path, std::strerror(errno))};
  }
  std::fclose(file);
  return std::nullopt;
}

}  // namespace

Result<Shard, Complaint> shard_of(const std::string& option, const EnvironmentLookup& environment) {
  if (!option.empty()) {
    return of_option(option);
  }
  const auto value = [&](const char* name) { return environment(name).value_or(""); };
  const std::string index = value("GTEST_SHARD_INDEX");
  const std::string total = value("GTEST_TOTAL_SHARDS");
  if (!index.empty() || !total.empty()) {
    return of_googletest(index, total);
  }
  const SlurmArray array{value("SLURM_ARRAY_TASK_ID"), value("SLURM_ARRAY_TASK_MIN"), value("SLURM_ARRAY_TASK_COUNT"),
                         environment("SLURM_ARRAY_TASK_STEP").value_or("1")};
  if (!array.id.empty() || !array.first.empty() || !array.count.empty()) {
    return of_slurm(array);
  }
  return Shard{};
}

Result<Shard, Complaint> pick_shard(const std::string& option) {
  Result<Shard, Complaint> shard = shard_of(option, own_environment);
  if (shard) {
    if (std::optional<Complaint> complaint = touch_status_file()) {
      return *std::move(complaint);
    }
  }
  return shard;
}

std::string shard_text(const Shard& shard) {
  return shard.source.empty() ? "" : fmt::format("shard {}/{} ({})", shard.index, shard.count, shard.source);
}

}  // namespace poolproof::cli
