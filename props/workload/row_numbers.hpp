// The numbers of a trace's rows: each is somebody's from take() to give().
#pragma once

#include <vector>

#include "model/ops.hpp"

namespace poolproof {

class RowNumbers {
 public:
  [[nodiscard]] bool exhausted() const { return spare_.empty() && next_ == max_rows; }

  /// One that was given back last, else the lowest that was never used. Only when not exhausted().
  Row take() {
    if (spare_.empty()) {
      return next_++;
    }
    const Row row = spare_.back();
    spare_.pop_back();
    return row;
  }
  void give(Row row) { spare_.push_back(row); }

 private:
  std::vector<Row> spare_;
  Row next_ = 0;
};

}  // namespace poolproof
