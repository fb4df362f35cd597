// A trace as text, op by op, so that no more than one free group of it is held.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/ops.hpp"

namespace poolproof {

/// Takes text; false = it could not be written, and nothing more should come.
using TextSink = std::function<bool(std::string_view)>;

class TraceWriter {
 public:
  explicit TraceWriter(TextSink sink) : sink_(std::move(sink)) {}

  /// `notes` go to the top as comments.
  void begin(const Geometry& geometry, const std::vector<std::string>& notes);
  /// One op, with the number of the recorded call that it came from behind it, if it came from one.
  void op(const Op& op, std::optional<std::uint64_t> call = std::nullopt);
  /// A line of its own; bytes that would end it are replaced.
  void comment(std::string_view text);
  /// All that is still held goes out. False when anything could not be written.
  bool end();
  /// A former write failed.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void line(std::string_view text);
  void flush_group(std::string_view opening);
  void write(std::string_view text);

  TextSink sink_;
  Geometry geometry_;
  std::string out_;    ///< not handed to the sink yet
  std::string group_;  ///< lines of the open group; its first line is not among them
  std::string group_mark_;
  bool group_held_ = false;
  bool failed_ = false;
  std::uint64_t bytes_ = 0;
};

}  // namespace poolproof
