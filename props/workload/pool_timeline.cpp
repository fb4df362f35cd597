#include "props/workload/pool_timeline.hpp"

#include <algorithm>
#include <utility>

namespace poolproof {
namespace {

constexpr std::size_t most_samples = 2000;

std::int64_t used(const PoolCourse& pool, const PoolUse& use) { return pool.size - use.free - use.staged.value_or(0); }

}  // namespace

PoolTimeline::PoolTimeline(const Geometry& geometry, StagedLookup staged) : geo_(geometry), staged_(std::move(staged)) {
  const auto add = [&](std::string_view name, std::string_view unit, std::int64_t size) {
    PoolCourse pool;
    pool.name = name;
    pool.unit = unit;
    pool.size = size;
    pool.sorted = geo_.need_sort && staged_ != nullptr && unit == "tokens";
    pool.tombstones = geo_.paired() && pools_.empty();
    pools_.push_back(std::move(pool));
  };
  add(geo_.hybrid() ? "full pool" : "pool", "tokens", geo_.full);
  if (geo_.paired()) {
    add("SWA pool", "tokens", geo_.swa);
  }
  if (geo_.reqs > 0) {
    add("request slots", "slots", geo_.reqs);
  }
  uses_.resize(pools_.size());
}

/// Reads all pools as they stand.
void PoolTimeline::look(const Machine& machine) {
  std::size_t at = 0;
  PoolUse& full = uses_[at++];
  full = {};
  full.free = machine.full_free_pages() * geo_.page;
  full.deferred = machine.full_deferred_pages() * geo_.page;
  full.lent = geo_.full - full.free - full.deferred;
  if (geo_.paired()) {
    PoolUse& swa = uses_[at++];
    swa = {};
    swa.free = machine.swa_free_pages() * geo_.page;
    swa.deferred = machine.swa_deferred_pages() * geo_.page;
    swa.lent = geo_.swa - swa.free - swa.deferred;
    // Pages are paired one to one here: a full page without an SWA page is a tombstone, or lies outside a tail.
    full.tombstone = std::max<std::int64_t>(0, full.lent - swa.lent);
    full.lent -= full.tombstone;
  }
  if (geo_.reqs > 0) {
    uses_[at] = {machine.slots_free(), std::nullopt, 0, geo_.reqs - machine.slots_free(), 0};
  }
}

void PoolTimeline::keep() {
  if (pools_[0].sorted) {
    if (const std::optional<StagedPages> staged = staged_()) {
      uses_[0].staged = std::min(uses_[0].free, staged->full * geo_.page);
      uses_[0].free -= *uses_[0].staged;
      if (geo_.paired()) {
        uses_[1].staged = std::min(uses_[1].free, staged->swa * geo_.page);
        uses_[1].free -= *uses_[1].staged;
      }
    }
  }
  moments_.push_back(moment_);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    pools_[i].uses.push_back(uses_[i]);
  }
  if (moments_.size() >= most_samples) {
    thin();
  }
}

/// Every other sample goes, and from now on half as many come.
void PoolTimeline::thin() {
  stride_ *= 2;
  const auto halve = [](auto& list) {
    for (std::size_t i = 0; 2 * i < list.size(); ++i) {
      list[i] = list[2 * i];
    }
    list.resize((list.size() + 1) / 2);
  };
  halve(moments_);
  for (PoolCourse& pool : pools_) {
    halve(pool.uses);
  }
}

void PoolTimeline::step(const ServingMoment& moment, const Machine& machine) {
  if (std::exchange(begun_, true)) {
    const auto passed = static_cast<double>(moment.time_us - moment_.time_us);
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      pools_[i].weighted_sum += static_cast<double>(used(pools_[i], uses_[i])) * passed;
    }
  } else {
    first_us_ = moment.time_us;
  }
  moment_ = moment;
  last_us_ = moment.time_us;
  look(machine);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    pools_[i].peak = std::max(pools_[i].peak, used(pools_[i], uses_[i]));
  }
  const std::int64_t lent = uses_[0].lent + uses_[0].tombstone;
  if (lent > 0) {
    const double percent = 100.0 * static_cast<double>(moment.unused_tokens) / static_cast<double>(lent);
    fragmentation_sum_ += percent;
    peak_fragmentation_ = std::max(peak_fragmentation_, percent);
  }
  if (steps_++ % stride_ == 0) {
    keep();
  }
}

void PoolTimeline::group_end(const Machine& machine) {
  if (machine.full_deferred_pages() == 0 && machine.swa_deferred_pages() == 0) {
    return;
  }
  look(machine);
  if (!moments_.empty() && moments_.back().time_us == moment_.time_us) {
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      const std::optional<std::int64_t> staged = pools_[i].uses.back().staged;
      if (staged) {
        uses_[i].staged = std::min(*staged, uses_[i].free);
        uses_[i].free -= *uses_[i].staged;
      }
      pools_[i].uses.back() = uses_[i];
    }
  }
}

void PoolTimeline::finish(std::uint64_t time_us) {
  last_us_ = std::max(last_us_, time_us);
  const auto passed = static_cast<double>(last_us_ - first_us_);
  for (PoolCourse& pool : pools_) {
    pool.mean = passed > 0 ? static_cast<std::int64_t>(pool.weighted_sum / passed) : 0;
  }
}

double PoolTimeline::mean_fragmentation_percent() const {
  return steps_ > 0 ? fragmentation_sum_ / static_cast<double>(steps_) : 0;
}

}  // namespace poolproof
