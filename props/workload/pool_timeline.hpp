// What the pools did over a simulation, step by step: for the table, exactly; for the picture, thinned to what it
// shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"
#include "props/workload/serving.hpp"

namespace poolproof {

/// One pool at one moment, in its unit; the kinds are disjoint and make up the size.
struct PoolUse {
  std::int64_t free = 0;
  std::optional<std::int64_t> staged;  ///< of what is returned, not merged yet; not known: counted as free
  std::int64_t deferred = 0;
  std::int64_t lent = 0;
  std::int64_t tombstone = 0;  ///< lent while its SWA half is gone
};

/// One pool over time.
struct PoolCourse {
  std::string_view name;  ///< "full pool", "SWA pool", "request slots"
  std::string_view unit;  ///< "tokens", "slots"
  std::int64_t size = 0;
  bool sorted = false;      ///< there is a staged kind
  bool tombstones = false;  ///< there is a tombstone kind
  std::vector<PoolUse> uses;
  std::int64_t peak = 0;    ///< most that was not free
  std::int64_t mean = 0;    ///< over simulated time
  double weighted_sum = 0;  ///< of what is not free, times microseconds
};

/// Free pages that are staged, of the full and the SWA pool; asked of the implementation, which may not show it.
struct StagedPages {
  std::int64_t full = 0;
  std::int64_t swa = 0;
};
using StagedLookup = std::function<std::optional<StagedPages>()>;

class PoolTimeline {
 public:
  /// `staged` may be empty.
  PoolTimeline(const Geometry& geometry, StagedLookup staged);

  /// A step begins.
  void step(const ServingMoment& moment, const Machine& machine);
  /// A free group is about to end: what it holds back is seen now or never.
  void group_end(const Machine& machine);
  /// The simulation is over.
  void finish(std::uint64_t time_us);

  [[nodiscard]] const std::vector<PoolCourse>& pools() const { return pools_; }
  /// Of the samples kept, parallel to PoolCourse::uses.
  [[nodiscard]] const std::vector<ServingMoment>& moments() const { return moments_; }
  /// Share of the lent tokens that hold no token, in percent: behind the ends of rows, in their last pages.
  [[nodiscard]] double mean_fragmentation_percent() const;
  [[nodiscard]] double peak_fragmentation_percent() const { return peak_fragmentation_; }

 private:
  void look(const Machine& machine);
  void keep();
  void thin();

  Geometry geo_;
  StagedLookup staged_;
  std::vector<PoolCourse> pools_;
  std::vector<ServingMoment> moments_;
  ServingMoment moment_;       ///< of the step that runs
  std::vector<PoolUse> uses_;  ///< in it
  bool begun_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t stride_ = 1;  ///< one in so many steps is kept
  double fragmentation_sum_ = 0;
  double peak_fragmentation_ = 0;
  std::uint64_t first_us_ = 0;
  std::uint64_t last_us_ = 0;
};

}  // namespace poolproof
