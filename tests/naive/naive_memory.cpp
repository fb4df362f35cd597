// The memory behind the pools once more: which buffers there must be, and what a pause may do to them.
#include <fmt/format.h>

#include <algorithm>

#include "tests/naive/naive_model.hpp"

namespace poolproof::naive {
namespace {

std::set<std::string> tags_of(MemoryTag tag) {
  if (tag == MemoryTag::all) {
    return {"kv_cache", "weights"};
  }
  return {tag == MemoryTag::weights ? "weights" : "kv_cache"};
}

struct Planned {
  std::string tag;
  std::int64_t bytes = 0;
};

/// Every buffer by name.
std::map<std::string, Planned> plan(const Geometry& g) {
  std::map<std::string, Planned> all;
  const std::int64_t full_rows = g.full + g.page;
  const std::int64_t swa_rows = g.ringed() ? (g.reqs + 1) * g.ring : g.swa + g.page;
  const auto layers = [&](const std::string& side, std::int64_t count, std::int64_t rows) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string layer = "." + std::to_string(i);
      if (g.kv.kind == KvKind::mha) {
        all[side + ".k" + layer] = {"kv_cache", rows * g.kv.row_bytes()};
        all[side + ".v" + layer] = {"kv_cache", rows * g.kv.row_bytes()};
      } else {
        all[side + ".kv" + layer] = {"kv_cache", rows * g.kv.row_bytes()};
      }
    }
  };
  layers("full", g.kv.full_layer_count(), full_rows);
  if (g.hybrid()) {
    layers("swa", g.kv.swa_layer_count(), swa_rows);
  }
  for (std::int64_t i = 0; g.kv.kind == KvKind::dsa && i < g.kv.full_layer_count(); ++i) {
    all["full.index_k." + std::to_string(i)] = {"kv_cache", full_rows * g.kv.index_row_bytes()};
  }
  if (g.kv.weights_bytes > 0) {
    all["weights"] = {"weights", g.kv.weights_bytes};
  }
  return all;
}

std::map<std::string, BufferReport> by_name(const MemoryReport& report) {
  std::map<std::string, BufferReport> all;
  for (const BufferReport& buffer : report.buffers) {
    all[buffer.name] = buffer;
  }
  return all;
}

std::int64_t mapped(std::int64_t bytes, std::int64_t granule) {
  return bytes % granule == 0 ? bytes : (bytes / granule + 1) * granule;
}

/// Of all planned buffers of these tags.
std::int64_t mapped(const Geometry& g, const std::set<std::string>& tags, std::int64_t granule) {
  std::int64_t total = 0;
  for (const auto& [name, planned] : plan(g)) {
    total += tags.contains(planned.tag) ? mapped(planned.bytes, granule) : 0;
  }
  return total;
}

bool same(const MemoryReport& before, const MemoryReport& after) {
  return by_name(before) == by_name(after) && before.used_bytes == after.used_bytes;
}

/// Buffers of no such tag are as they were.
std::string touched(const Geometry& g, const std::set<std::string>& tags, bool built, const MemoryReport& before,
                    const MemoryReport& after) {
  auto was = by_name(before);
  auto is = by_name(after);
  for (const auto& [name, planned] : plan(g)) {
    if (!built && planned.tag == "kv_cache") {
      continue;
    }
    if (!tags.contains(planned.tag) && (!was.contains(name) || !is.contains(name) || was[name] != is[name])) {
      return name + " was touched";
    }
  }
  return {};
}

}  // namespace

bool Model::in_turn(MemoryTag tag, bool pause) const {
  if (g_.kv.saver == SaverMode::off) {
    return true;
  }
  for (const std::string& one : tags_of(tag)) {
    const bool there = one == "kv_cache" || g_.kv.weights_bytes > 0;
    if (there && paused_.contains(one) == pause) {
      return false;
    }
  }
  return true;
}

std::string Model::check_built(const MemoryReport& report) const {
  auto is = by_name(report);
  for (const auto& [name, planned] : plan(g_)) {
    if (!is.contains(name) || is[name].bytes != planned.bytes) {
      return name + " is not of its planned size";
    }
  }
  return {};
}

std::string Model::check_memory(const Op& op, const std::vector<MemoryReport>& reports) const {
  if (reports.size() < 2) {
    return {};
  }
  const MemoryReport& before = reports.front();
  const MemoryReport& after = reports.back();
  const bool off = g_.kv.saver == SaverMode::off;
  const std::int64_t moved = after.used_bytes - before.used_bytes;
  const std::int64_t kv = mapped(g_, {"kv_cache"}, after.granule_bytes);
  if (std::holds_alternative<op::Destroy>(op)) {
    for (const auto& [name, buffer] : by_name(after)) {
      if (const auto planned = plan(g_); planned.contains(name) && planned.at(name).tag == "kv_cache") {
        return name + " outlives its pool";
      }
    }
    const bool given_back = off || moved == (kv_paused() ? 0 : -kv);
    return given_back ? touched(g_, {"kv_cache"}, built_, before, after) : "destroy leaks";
  }
  if (std::holds_alternative<op::Build>(op)) {
    const std::string wrong = check_built(after);
    return wrong.empty() && !off && moved != kv ? "build takes something else than its buffers" : wrong;
  }
  const bool pauses = std::holds_alternative<op::Pause>(op);
  const MemoryTag tag = pauses ? std::get<op::Pause>(op).tag : std::get<op::Resume>(op).tag;
  if (off || !in_turn(tag, pauses)) {
    return same(before, after) ? std::string{} : "something changed, and nothing should have";
  }
  return pauses ? check_pause(tags_of(tag), before, after) : check_resume(tags_of(tag), before, after);
}

std::string Model::check_pause(const std::set<std::string>& tags, const MemoryReport& before,
                               const MemoryReport& after) const {
  auto was = by_name(before);
  auto is = by_name(after);
  const auto holds = [&](const std::map<Loc, Kv>& kv, const PoolState& pool) {
    return std::any_of(kv.begin(), kv.end(), [&](const auto& one) {
      return pool.lending.contains(one.first / g_.page) && !one.second.lost && written(kv, pool, one.first);
    });
  };
  for (const auto& [name, planned] : plan(g_)) {
    const bool full = name.starts_with("full");
    const bool used = full ? holds(full_kv_, full_) : name.starts_with("swa") && g_.paired() && holds(swa_kv_, swa_);
    if (!built_ && planned.tag == "kv_cache") {
      continue;
    }
    if (used && !was[name].paused && was[name].zero) {
      return name + " is not in use";
    }
    const BufferReport& buffer = is[name];
    if (tags.contains(planned.tag) && (buffer.tag != planned.tag || !buffer.paused ||
                                       buffer.resident_bytes.value_or(0) != 0 || buffer.address != was[name].address)) {
      return name + " is not paused as it should be";
    }
  }
  if (before.used_bytes - after.used_bytes != mapped(g_, tags, after.granule_bytes)) {
    return "the device did not get all of it back";
  }
  return touched(g_, tags, built_, before, after);
}

std::string Model::check_resume(const std::set<std::string>& tags, const MemoryReport& before,
                                const MemoryReport& after) const {
  auto was = by_name(before);
  auto is = by_name(after);
  for (const auto& [name, planned] : plan(g_)) {
    if (!tags.contains(planned.tag)) {
      continue;
    }
    const BufferReport& buffer = is[name];
    if (buffer.paused || buffer.address != was[name].address || buffer.bytes != planned.bytes) {
      return name + " is not where it was";
    }
    const bool kept = planned.tag == "weights" || g_.kv.saver == SaverMode::backup;
    if (kept ? buffer.digest != contents_.at(name) : !buffer.zero) {
      return name + " has the wrong content";
    }
  }
  if (after.used_bytes - before.used_bytes != mapped(g_, tags, after.granule_bytes)) {
    return "the device gave something else than was asked for";
  }
  return touched(g_, tags, built_, before, after);
}

void Model::pause(MemoryTag tag, const std::vector<MemoryReport>& reports) {
  if (g_.kv.saver == SaverMode::off) {
    return;
  }
  paused_.merge(tags_of(tag));
  for (const BufferReport& buffer : reports.empty() ? std::vector<BufferReport>() : reports.front().buffers) {
    if (tags_of(tag).contains(buffer.tag)) {
      contents_[buffer.name] = buffer.digest;
    }
  }
  if (g_.kv.saver == SaverMode::on && tags_of(tag).contains("kv_cache")) {
    for (std::map<Loc, Kv>* kv : {&full_kv_, &swa_kv_}) {
      for (auto& [loc, one] : *kv) {
        one.lost = true;
      }
    }
    for (auto& [row, entry] : ring_kv_) {
      entry.lost = true;
    }
  }
}

void Model::resume(MemoryTag tag) {
  for (const std::string& one : tags_of(tag)) {
    paused_.erase(one);
  }
}

}  // namespace poolproof::naive
