#include "recording/trace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/trace_text.hpp"

namespace poolproof {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16U;
/// A group that grows longer is written with `group_begin` and `group_end`, whether it is ever closed or not.
constexpr std::size_t longest_held_group_bytes = std::size_t{1} << 20U;
constexpr std::size_t longest_comment_bytes = 1000;

}  // namespace

void TraceWriter::write(std::string_view text) {
  out_ += text;
  bytes_ += text.size();
  if (out_.size() >= block_bytes) {
    failed_ = failed_ || !sink_(out_);
    out_.clear();
  }
}

void TraceWriter::line(std::string_view text) {
  std::string& target = group_held_ ? group_ : out_;
  if (group_held_) {
    target += "  ";
    target += text;
    target += '\n';
    if (target.size() > longest_held_group_bytes) {
      flush_group("group_begin");
    }
    return;
  }
  write(text);
  write("\n");
}

void TraceWriter::flush_group(std::string_view opening) {
  group_held_ = false;
  write(opening);
  write(group_mark_);
  write("\n");
  write(group_);
  group_.clear();
}

void TraceWriter::comment(std::string_view text) {
  std::string clean(text.substr(0, longest_comment_bytes));
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  line("# " + clean);
}

void TraceWriter::begin(const Geometry& geometry, const std::vector<std::string>& notes) {
  geometry_ = geometry;
  for (const std::string& note : notes) {
    comment(note);
  }
  line("poolproof 1");
  line("pool " + to_string(geometry));
}

void TraceWriter::op(const Op& op, std::optional<std::uint64_t> call) {
  std::string mark = call ? fmt::format("  # n={}", *call) : std::string();
  const OpWord word = word_of(op);
  if (word == OpWord::group_begin && !group_held_) {
    group_held_ = true;
    group_mark_ = std::move(mark);
    return;
  }
  if (word == OpWord::group_end && group_held_) {
    flush_group("group {");
    return line("}" + mark);
  }
  line(print_op(op, geometry_) + mark);
}

bool TraceWriter::end() {
  if (group_held_) {
    flush_group("group_begin");
  }
  if (!out_.empty()) {
    failed_ = failed_ || !sink_(out_);
    out_.clear();
  }
  return !failed_;
}

}  // namespace poolproof
