// Request slots 1..count; the slot given back last is taken first, so that slots are recycled soon.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace poolproof {

class RequestSlots {
 public:
  explicit RequestSlots(std::int64_t count) : count_(count) { clear(); }

  void clear() {
    free_.resize(static_cast<std::size_t>(count_));
    std::int64_t slot = count_;
    for (std::int64_t& entry : free_) {
      entry = slot--;
    }
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t free_count() const { return static_cast<std::int64_t>(free_.size()); }
  /// The slot to be taken next is at the back.
  [[nodiscard]] const std::vector<std::int64_t>& free_list() const { return free_; }
  void set_free_list(std::vector<std::int64_t> slots) { free_ = std::move(slots); }

  std::optional<std::int64_t> take() {
    if (free_.empty()) {
      return std::nullopt;
    }
    const std::int64_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(std::int64_t slot) { free_.push_back(slot); }

 private:
  std::int64_t count_;
  std::vector<std::int64_t> free_;
};

}  // namespace poolproof
