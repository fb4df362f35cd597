// The static rules: what makes an op impossible whatever happened before it.
#include <fmt/format.h>

#include "model/faults.hpp"
#include "model/trace_text.hpp"

namespace poolproof {
namespace {

using Fault = std::optional<OpFault>;

Fault fault(OpPart part, std::size_t index, std::string message) { return OpFault{part, index, std::move(message)}; }

Fault row_fault(Row row, std::size_t index) {
  if (row >= max_rows) {
    return fault(OpPart::row, index, fmt::format("row r{} is too large; rows are r0..r{}", row, max_rows - 1));
  }
  return std::nullopt;
}

Fault range_fault(const Range& range, std::size_t index, OpPart part = OpPart::range) {
  if (range.begin < 0) {
    return fault(part, index, fmt::format("position {} is negative; positions start at 0", range.begin));
  }
  if (range.begin >= range.end) {
    return fault(part, index,
                 fmt::format("the range {}..{} is empty; its end must be above its begin", range.begin, range.end));
  }
  if (range.end > max_position) {
    return fault(part, index,
                 fmt::format("position {} is too large; ranges end at {} at most", range.end, max_position));
  }
  return std::nullopt;
}

Fault row_and_range_fault(Row row, const Range& range) {
  auto found = row_fault(row, 0);
  return found ? found : range_fault(range, 0);
}

Fault count_fault(std::size_t count) {
  constexpr std::size_t most = TextLimits{}.pieces_per_op;
  if (count == 0) {
    return fault(OpPart::word, 0, "the op names nothing; it takes at least one row or range");
  }
  if (count > most) {
    return fault(OpPart::word, 0, fmt::format("the op names {} pieces; {} are the most, split it", count, most));
  }
  return std::nullopt;
}

/// A trace's op has to fit on a line, indentation and comment aside.
Fault line_fault(const Op& op, std::size_t count, const Geometry& g) {
  constexpr std::size_t longest = TextLimits{}.line_bytes - 256;
  constexpr std::size_t surely_fits = longest / 64;
  if (count > surely_fits && print_op(op, g).size() > longest) {
    return fault(OpPart::word, 0, fmt::format("the op does not fit on a line of {} bytes; split it", longest));
  }
  return std::nullopt;
}

Fault not_offered(const Geometry& g, std::string_view word, std::string_view remedy) {
  return fault(OpPart::word, 0, fmt::format("layout={} does not offer {}; {}", layout_name(g.layout), word, remedy));
}

Fault side_fault(Side side, bool segment, const Geometry& g) {
  if (side == Side::both || g.sliding()) {
    return std::nullopt;
  }
  const OpWord both = segment ? OpWord::free_segment : OpWord::free;
  const auto word = static_cast<OpWord>(static_cast<std::size_t>(both) + static_cast<std::size_t>(side));
  return not_offered(g, op_word_name(word), fmt::format("it has one side, use {}", op_word_name(both)));
}

Fault number_fault(std::string_view what, std::int64_t number) {
  if (number < 0) {
    return fault(OpPart::number, 0, fmt::format("{} is negative: {}", what, number));
  }
  return std::nullopt;
}

Fault backup_fault(std::uint32_t name) {
  if (name >= max_backups) {
    return fault(OpPart::number, 0, fmt::format("backup b{} is too large; backups are b0..b{}", name, max_backups - 1));
  }
  return std::nullopt;
}

Fault slot_fault(Row row, const Geometry& g) {
  if (g.reqs < 1) {
    return fault(OpPart::word, 0, "this pool has no request slots; give reqs=N on the pool line");
  }
  return row_fault(row, 0);
}

class Rules {
 public:
  Rules(const Op& op, const Geometry& g) : op_(op), g_(g) {}

  Fault operator()(const op::SlotTake& op) const { return slot_fault(op.row, g_); }
  Fault operator()(const op::SlotGive& op) const { return slot_fault(op.row, g_); }
  Fault operator()(const op::Alloc& op) const;
  Fault operator()(const op::Extend& op) const { return pieces_fault(op.pieces); }
  Fault operator()(const op::Decode& op) const;
  Fault operator()(const op::Tail& op) const;
  Fault operator()(const op::Free& op) const {
    auto found = side_fault(op.side, false, g_);
    return found ? found : pieces_fault(op.pieces);
  }
  Fault operator()(const op::FreeSegment& op) const;
  Fault operator()(const op::Copy& op) const {
    auto found = row_and_range_fault(op.to, op.range);
    return found ? found : row_fault(op.from, 1);
  }
  Fault operator()(const op::Drop& op) const { return row_and_range_fault(op.row, op.range); }
  Fault operator()(const op::Trim& op) const;
  Fault operator()(const op::Remap& op) const;
  Fault operator()(const op::Unmap& op) const {
    if (!g_.hybrid()) {
      return not_offered(g_, "unmap", "its mapping cannot be edited");
    }
    return row_and_range_fault(op.row, op.range);
  }
  Fault operator()(const op::Write& op) const { return row_and_range_fault(op.row, op.range); }
  Fault operator()(const op::Read& op) const { return row_and_range_fault(op.row, op.range); }
  Fault operator()(const op::GroupBegin& /*op*/) const { return std::nullopt; }
  Fault operator()(const op::GroupEnd& /*op*/) const { return std::nullopt; }
  Fault operator()(const op::Backup& op) const { return backup_fault(op.name); }
  Fault operator()(const op::Restore& op) const { return backup_fault(op.name); }
  Fault operator()(const op::Clear& /*op*/) const { return std::nullopt; }
  Fault operator()(const op::Resize& op) const;
  Fault operator()(const op::Expect& op) const;
  Fault operator()(const op::Pause& op) const { return tag_fault("pause", op.tag); }
  Fault operator()(const op::Resume& op) const { return tag_fault("resume", op.tag); }
  Fault operator()(const op::Destroy& /*op*/) const { return memory_fault("destroy"); }
  Fault operator()(const op::Build& /*op*/) const { return memory_fault("build"); }
  Fault operator()(const op::Flush& /*op*/) const { return memory_fault("flush"); }

 private:
  [[nodiscard]] Fault memory_fault(std::string_view word) const;
  [[nodiscard]] Fault tag_fault(std::string_view word, MemoryTag tag) const;
  [[nodiscard]] Fault pieces_fault(const std::vector<Piece>& pieces) const;

  const Op& op_;
  const Geometry& g_;
};

Fault Rules::pieces_fault(const std::vector<Piece>& pieces) const {
  if (auto found = count_fault(pieces.size())) {
    return found;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (auto found = row_fault(pieces[i].row, i)) {
      return found;
    }
    if (auto found = range_fault(pieces[i].range, i)) {
      return found;
    }
  }
  return line_fault(op_, pieces.size(), g_);
}

Fault Rules::operator()(const op::Alloc& op) const {
  if (g_.hybrid() && g_.page > 1) {
    return not_offered(g_, fmt::format("alloc with page={}", g_.page), "use extend");
  }
  if (auto found = row_and_range_fault(op.row, op.range)) {
    return found;
  }
  if (op.range.begin % g_.page != 0) {
    return fault(
        OpPart::range, 0,
        fmt::format("alloc hands out whole pages, and position {} is inside one (page={})", op.range.begin, g_.page));
  }
  if (op.range.size() % g_.page != 0) {
    return fault(
        OpPart::range, 0,
        fmt::format("alloc hands out whole pages, and {} tokens are no multiple of page={}", op.range.size(), g_.page));
  }
  return std::nullopt;
}

Fault Rules::operator()(const op::Decode& op) const {
  if (auto found = count_fault(op.rows.size())) {
    return found;
  }
  for (std::size_t i = 0; i < op.rows.size(); ++i) {
    if (auto found = row_fault(op.rows[i], i)) {
      return found;
    }
  }
  return std::nullopt;
}

Fault Rules::operator()(const op::Tail& op) const {
  if (!g_.hybrid()) {
    return not_offered(g_, "tail", "use extend");
  }
  if (auto found = row_and_range_fault(op.row, op.range)) {
    return found;
  }
  if (auto found = range_fault(op.swa, 0, OpPart::swa)) {
    return found;
  }
  if (op.swa.begin < op.range.begin || op.swa.end > op.range.end) {
    return fault(
        OpPart::swa, 0,
        fmt::format("swa={}..{} is not inside {}..{}", op.swa.begin, op.swa.end, op.range.begin, op.range.end));
  }
  if (op.swa.begin % g_.page != 0) {
    return fault(OpPart::swa, 0,
                 fmt::format("swa={}..{} starts inside a page; start it at a multiple of page={}", op.swa.begin,
                             op.swa.end, g_.page));
  }
  return std::nullopt;
}

Fault Rules::operator()(const op::FreeSegment& op) const {
  if (auto found = side_fault(op.side, true, g_)) {
    return found;
  }
  if (auto found = row_fault(op.row, 0)) {
    return found;
  }
  if (auto found = count_fault(op.ranges.size())) {
    return found;
  }
  for (std::size_t i = 0; i < op.ranges.size(); ++i) {
    if (auto found = range_fault(op.ranges[i], i)) {
      return found;
    }
  }
  return line_fault(op_, op.ranges.size(), g_);
}

Fault Rules::operator()(const op::Trim& op) const {
  if (auto found = row_fault(op.row, 0)) {
    return found;
  }
  if (auto found = number_fault("the length", op.length)) {
    return found;
  }
  if (op.length > max_position) {
    return fault(OpPart::number, 0, fmt::format("length {} is too large; {} is the most", op.length, max_position));
  }
  return std::nullopt;
}

Fault Rules::operator()(const op::Remap& op) const {
  if (!g_.hybrid()) {
    return not_offered(g_, "remap", "its mapping cannot be edited");
  }
  if (auto found = row_and_range_fault(op.to, op.range)) {
    return found;
  }
  if (auto found = row_fault(op.from, 1)) {
    return found;
  }
  // Bounded first, so that the donor's end cannot overflow.
  if (op.from_begin < 0 || op.from_begin > max_position || op.from_begin + op.range.size() > max_position) {
    return fault(OpPart::range, 1,
                 fmt::format("the donor range starts at {}; it must lie in 0..{}", op.from_begin, max_position));
  }
  if (op.range.begin % g_.page != 0) {
    return fault(OpPart::range, 0,
                 fmt::format("the target {}..{} starts inside a page; start it at a multiple of "
                             "page={}",
                             op.range.begin, op.range.end, g_.page));
  }
  return std::nullopt;
}

Fault Rules::memory_fault(std::string_view word) const {
  if (g_.kv.none()) {
    return fault(
        OpPart::word, 0,
        fmt::format("{} is about the memory behind the pool; give kv=mha, kv=mla or kv=dsa on the pool line", word));
  }
  return std::nullopt;
}

Fault Rules::tag_fault(std::string_view word, MemoryTag tag) const {
  auto found = memory_fault(word);
  if (!found && tag == MemoryTag::weights && g_.kv.weights_bytes == 0) {
    found = fault(OpPart::word, 0,
                  fmt::format("{} weights, and there are none; give weights=BYTES on the pool line", word));
  }
  return found;
}

Fault Rules::operator()(const op::Resize& op) const {
  if (!g_.kv.none()) {
    return fault(OpPart::word, 0, "a pool with memory (kv=) keeps its size; destroy and build it, or leave kv out");
  }
  if (auto message = pool_size_fault("full", op.full, g_.page)) {
    return fault(OpPart::full, 0, *std::move(message));
  }
  if (!g_.hybrid()) {
    return op.swa == 0
               ? std::nullopt
               : fault(OpPart::swa, 0, fmt::format("layout={} has no SWA pool; leave swa out", layout_name(g_.layout)));
  }
  if (op.swa == 0) {
    return fault(OpPart::word, 0, "a hybrid pool is resized on both sides; give swa=TOKENS or swa=PAGESp");
  }
  if (auto message = pool_size_fault("swa", op.swa, g_.page)) {
    return fault(OpPart::swa, 0, *std::move(message));
  }
  return std::nullopt;
}

Fault Rules::operator()(const op::Expect& op) const {
  if (!op.full && !op.swa && !op.slots && !op.refused) {
    return fault(OpPart::word, 0, "the line expects nothing; add available full=N, slots N, refused or served");
  }
  if (op.full && *op.full < 0) {
    return fault(OpPart::full, 0, fmt::format("full={} is negative", *op.full));
  }
  if (op.swa && !g_.sliding()) {
    return fault(OpPart::swa, 0, fmt::format("layout={} has no SWA side; expect full alone", layout_name(g_.layout)));
  }
  if (op.swa && *op.swa < 0) {
    return fault(OpPart::swa, 0, fmt::format("swa={} is negative", *op.swa));
  }
  return op.slots ? number_fault("the number of slots", *op.slots) : std::nullopt;
}

}  // namespace

std::optional<OpFault> find_op_fault(const Op& op, const Geometry& g) { return std::visit(Rules(op, g), op); }

}  // namespace poolproof
