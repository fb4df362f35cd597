// Which part of a run this process does: `--shard`, else what GoogleTest or Slurm set in the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/complaint.hpp"
#include "model/result.hpp"

namespace poolproof::cli {

/// Part `index` of `count`, from 0. The parts together are the whole run.
struct Shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  std::string source;  ///< "--shard", or the variables that said so; empty: nobody did, and it is the whole

  bool operator==(const Shard&) const = default;
};

/// The value of an environment variable; nothing when it is not set. An empty one counts as not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// `option` as "I/N" ("" = not given), else GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS, else Slurm's array task: the
/// task's place in the array, whatever number the array starts at and steps by. Variables of one kind that are set in
/// part, or are no numbers, are a complaint that names them.
Result<Shard, Complaint> shard_of(const std::string& option, const EnvironmentLookup& environment);

/// shard_of in this process's environment. Keeps GoogleTest's protocol: where GTEST_SHARD_STATUS_FILE names a file, it
/// is touched, which says that this program shards.
Result<Shard, Complaint> pick_shard(const std::string& option);

/// "shard 0/4 (--shard)"; empty for the whole that nobody asked to be split.
std::string shard_text(const Shard& shard);

}  // namespace poolproof::cli
