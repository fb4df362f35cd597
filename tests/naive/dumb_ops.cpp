#include "tests/naive/dumb_ops.hpp"

namespace poolproof::naive {
namespace {

constexpr std::uint64_t rows = 4;
constexpr std::uint64_t backups = 2;

class Dice {
 public:
  Dice(const Geometry& g, const Model& model, Choices& choices) : g_(g), model_(model), choices_(choices) {}

  Op roll();

 private:
  Row row() { return static_cast<Row>(choices_.draw(rows)); }
  Side side() { return static_cast<Side>(choices_.draw(3)); }
  bool probe() { return choices_.odds(1, 4); }
  std::uint32_t backup() { return static_cast<std::uint32_t>(choices_.draw(backups)); }

  Pos position(Row row);
  Range range(Row row);
  Range next_range(Row row);
  std::vector<Piece> pieces(bool lending);
  std::vector<Row> some_rows();
  Op free();
  Op free_segment();
  Op tail();
  Op resize();
  Op on_memory();
  Op copy();
  Op remap();
  Op trim();

  const Geometry& g_;
  const Model& model_;
  Choices& choices_;
};

// Somewhere in the row or a little behind it, at a page border more often than not.
Pos Dice::position(Row row) {
  const Pos at = choices_.between(0, model_.length(row) + g_.page);
  return choices_.odds(2, 3) ? at / g_.page * g_.page : at;
}

Range Dice::range(Row row) {
  const Pos length = model_.length(row);
  const Pos begin = position(row);
  if (length > begin && choices_.odds(1, 3)) {
    return {begin, length};
  }
  const Pos end = begin + choices_.between(1, 2 * g_.page);
  return {begin, choices_.odds(2, 3) ? g_.pages_of(end) * g_.page : end};
}

// Mostly what continues the row.
Range Dice::next_range(Row row) {
  if (choices_.odds(1, 8)) {
    return range(row);
  }
  const Pos begin = model_.length(row);
  const Pos end = begin + choices_.between(1, 3 * g_.page);
  return {begin, choices_.odds(1, 2) ? g_.pages_of(end) * g_.page : end};
}

std::vector<Piece> Dice::pieces(bool lending) {
  std::vector<Piece> out;
  const std::uint64_t count = 1 + choices_.draw(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Row r = row();
    out.push_back({r, lending ? next_range(r) : range(r)});
  }
  return out;
}

std::vector<Row> Dice::some_rows() {
  std::vector<Row> out{row()};
  while (choices_.odds(1, 2)) {
    out.push_back(row());
  }
  return out;
}

// Half of the time all rows with the same range, as holders of one page must.
Op Dice::free() {
  if (choices_.odds(1, 2)) {
    return op::Free{side(), pieces(false)};
  }
  const Range same = range(row());
  op::Free out{side(), {}};
  for (Row r = 0; r < rows; ++r) {
    if (model_.length(r) > same.begin && choices_.odds(3, 4)) {
      out.pieces.push_back({r, same});
    }
  }
  return out;
}

Op Dice::free_segment() {
  op::FreeSegment out{side(), row(), {}};
  const std::uint64_t count = 1 + choices_.draw(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    out.ranges.push_back(range(out.row));
  }
  return out;
}

Op Dice::tail() {
  const Row r = row();
  const Range all = next_range(r);
  const Pos begin = choices_.between(all.begin / g_.page, all.end / g_.page) * g_.page;
  return op::Tail{r, all, {begin, choices_.odds(1, 2) ? all.end : choices_.between(begin, all.end)}};
}

Op Dice::copy() {
  const Row to = row();
  return op::Copy{to, next_range(to), row()};
}

Op Dice::remap() {
  const Row to = row();
  const Row from = row();
  return op::Remap{to, range(to), from, position(from)};
}

Op Dice::trim() {
  const Row r = row();
  const Pos length = model_.length(r);
  return op::Trim{r, choices_.between(std::max<Pos>(0, length - g_.page - 1), length + 1)};
}

Op Dice::resize() {
  return op::Resize{choices_.between(1, 8) * g_.page, g_.hybrid() ? choices_.between(1, 8) * g_.page : 0};
}

Op Dice::on_memory() {
  const auto tag = static_cast<MemoryTag>(choices_.draw(3));
  switch (choices_.draw(8)) {
    case 0:
      return op::Destroy{};
    case 1:
    case 2:
      return op::Build{};
    case 3:
      return op::Flush{};
    case 4:
    case 5:
      return op::Pause{tag};
    default:
      return op::Resume{tag};
  }
}

Op Dice::roll() {
  if (!g_.kv.none() && choices_.odds(1, 5)) {
    return on_memory();
  }
  const Row r = row();
  switch (choices_.draw(40)) {
    case 0:
    case 1:
      return op::SlotTake{r};
    case 2:
      return op::SlotGive{r};
    case 3:
    case 4:
      return op::Alloc{r, next_range(r)};
    case 5:
    case 6:
    case 7:
    case 8:
      return op::Extend{pieces(true)};
    case 9:
    case 10:
    case 11:
      return op::Decode{some_rows()};
    case 12:
    case 13:
      return tail();
    case 14:
    case 15:
    case 16:
    case 17:
      return free();
    case 18:
    case 19:
    case 20:
      return free_segment();
    case 21:
    case 22:
      return copy();
    case 23:
      return op::Drop{r, range(r)};
    case 24:
    case 25:
      return trim();
    case 26:
    case 27:
      return remap();
    case 28:
      return op::Unmap{r, range(r)};
    case 29:
    case 30:
    case 31:
      return op::Write{r, range(r)};
    case 32:
    case 33:
      return op::Read{r, range(r)};
    case 34:
      return op::GroupBegin{probe()};
    case 35:
    case 36:
      return op::GroupEnd{probe()};
    case 37:
      return op::Backup{backup()};
    case 38:
      return op::Restore{backup()};
    default:
      return choices_.odds(1, 4) ? (choices_.odds(1, 2) ? Op{op::Clear{}} : resize()) : Op{op::Write{r, {0, 1}}};
  }
}

}  // namespace

Op dumb_op(const Geometry& g, const Model& model, Choices& choices) {
  Dice dice(g, model, choices);
  Op op = dice.roll();
  while (op_fault(op, g)) {
    op = dice.roll();
  }
  return op;
}

}  // namespace poolproof::naive
