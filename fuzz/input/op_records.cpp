#include "fuzz/input/op_records.hpp"

#include <limits>
#include <utility>

namespace poolproof {
namespace {

constexpr std::uint8_t more_pieces = 0x80;
constexpr std::uint32_t record_names = 4;
/// A resized pool has fewer pages than this: a large one takes its time with every execution that has it.
constexpr Tokens record_pages = 17;
constexpr Pos most_length = std::numeric_limits<std::uint16_t>::max();

/// One record, read.
struct OpRecord {
  std::uint8_t word = 0;
  std::uint8_t row = 0;
  std::uint16_t begin = 0;
  std::uint16_t size = 0;
  std::uint8_t other = 0;
  std::uint8_t extra = 0;
};

OpRecord read(std::span<const std::uint8_t> b) {
  const auto pair = [&](std::size_t at) {
    return static_cast<std::uint16_t>(b[at] | static_cast<unsigned>(b[at + 1]) << 8U);
  };
  return {b[0], b[1], pair(2), pair(4), b[6], b[7]};
}

void append(std::vector<std::uint8_t>& bytes, const OpRecord& r) {
  const auto low = [](std::uint16_t pair) { return static_cast<std::uint8_t>(pair & 0xffU); };
  const auto high = [](std::uint16_t pair) { return static_cast<std::uint8_t>(pair >> 8U); };
  for (const std::uint8_t byte :
       {r.word, r.row, low(r.begin), high(r.begin), low(r.size), high(r.size), r.other, r.extra}) {
    bytes.push_back(byte);
  }
}

// ---- reading

Row row_of(const OpRecord& r) { return r.row % record_rows; }
Range range_of(const OpRecord& r) { return {r.begin, Pos{r.begin} + r.size}; }
Piece piece_of(const OpRecord& r) { return {row_of(r), range_of(r)}; }

op::Tail tail_of(const OpRecord& r, const Geometry& g) {
  const Range range = range_of(r);
  return {row_of(r), range, {range.begin + r.other * g.page, range.end - r.extra}};
}

op::Remap remap_of(const OpRecord& r) {
  return {row_of(r), range_of(r), r.other % record_rows, Pos{r.begin} + static_cast<std::int8_t>(r.extra)};
}

std::optional<Op> op_of(OpWord word, const OpRecord& r, const Geometry& g) {
  switch (word) {
    case OpWord::slot:
      return op::SlotTake{row_of(r)};
    case OpWord::unslot:
      return op::SlotGive{row_of(r)};
    case OpWord::alloc:
      return op::Alloc{row_of(r), range_of(r)};
    case OpWord::extend:
      return op::Extend{{piece_of(r)}};
    case OpWord::decode:
      return op::Decode{{row_of(r)}};
    case OpWord::tail:
      return tail_of(r, g);
    case OpWord::free:
      return op::Free{Side::both, {piece_of(r)}};
    case OpWord::free_swa:
      return op::Free{Side::swa, {piece_of(r)}};
    case OpWord::free_full:
      return op::Free{Side::full, {piece_of(r)}};
    case OpWord::free_segment:
      return op::FreeSegment{Side::both, row_of(r), {range_of(r)}};
    case OpWord::free_swa_segment:
      return op::FreeSegment{Side::swa, row_of(r), {range_of(r)}};
    case OpWord::free_full_segment:
      return op::FreeSegment{Side::full, row_of(r), {range_of(r)}};
    case OpWord::copy:
      return op::Copy{row_of(r), range_of(r), r.other % record_rows};
    case OpWord::drop:
      return op::Drop{row_of(r), range_of(r)};
    case OpWord::trim:
      return op::Trim{row_of(r), r.begin};
    case OpWord::remap:
      return remap_of(r);
    case OpWord::unmap:
      return op::Unmap{row_of(r), range_of(r)};
    case OpWord::write:
      return op::Write{row_of(r), range_of(r)};
    case OpWord::read:
      return op::Read{row_of(r), range_of(r)};
    case OpWord::group_begin:
    case OpWord::group_begin_again:
      return op::GroupBegin{word == OpWord::group_begin_again};
    case OpWord::group_end:
    case OpWord::group_end_again:
      return op::GroupEnd{word == OpWord::group_end_again};
    case OpWord::backup:
      return op::Backup{r.other % record_names};
    case OpWord::restore:
      return op::Restore{r.other % record_names};
    case OpWord::clear:
      return op::Clear{};
    case OpWord::resize:
      return op::Resize{r.begin % record_pages * g.page, g.hybrid() ? r.size % record_pages * g.page : 0};
    default:
      return std::nullopt;
  }
}

void add_piece(Op& op, const OpRecord& r) {
  if (auto* extend = std::get_if<op::Extend>(&op)) {
    extend->pieces.push_back(piece_of(r));
  } else if (auto* decode = std::get_if<op::Decode>(&op)) {
    decode->rows.push_back(row_of(r));
  } else if (auto* free = std::get_if<op::Free>(&op)) {
    free->pieces.push_back(piece_of(r));
  } else if (auto* segment = std::get_if<op::FreeSegment>(&op)) {
    segment->ranges.push_back(range_of(r));
  }
}

// ---- writing

/// Fills records from an op; `fits` turns false where one cannot say it.
class Writer {
 public:
  Writer(OpWord word, const Geometry& geometry) : word_(static_cast<std::uint8_t>(word)), geometry_(geometry) {}

  std::vector<OpRecord> records;
  bool fits = true;

  void operator()(const op::SlotTake& op) { piece(op.row, {}); }
  void operator()(const op::SlotGive& op) { piece(op.row, {}); }
  void operator()(const op::Alloc& op) { piece(op.row, op.range); }
  void operator()(const op::Extend& op) { pieces(op.pieces); }
  void operator()(const op::Decode& op) {
    for (const Row row : op.rows) {
      piece(row, {});
    }
  }
  void operator()(const op::Tail& op) {
    piece(op.row, op.range);
    const Pos ahead = op.swa.begin - op.range.begin;
    fits = fits && ahead % geometry_.page == 0;
    records.back().other = byte(ahead / geometry_.page);
    records.back().extra = byte(op.range.end - op.swa.end);
  }
  void operator()(const op::Free& op) { pieces(op.pieces); }
  void operator()(const op::FreeSegment& op) {
    for (const Range& range : op.ranges) {
      piece(op.row, range);
    }
  }
  void operator()(const op::Copy& op) {
    piece(op.to, op.range);
    records.back().other = row(op.from);
  }
  void operator()(const op::Drop& op) { piece(op.row, op.range); }
  void operator()(const op::Trim& op) { piece(op.row, {op.length, op.length}); }
  void operator()(const op::Remap& op) {
    piece(op.to, op.range);
    records.back().other = row(op.from);
    const Pos offset = op.from_begin - op.range.begin;
    fits =
        fits && offset >= std::numeric_limits<std::int8_t>::min() && offset <= std::numeric_limits<std::int8_t>::max();
    records.back().extra = static_cast<std::uint8_t>(offset & 0xff);
  }
  void operator()(const op::Unmap& op) { piece(op.row, op.range); }
  void operator()(const op::Write& op) { piece(op.row, op.range); }
  void operator()(const op::Read& op) { piece(op.row, op.range); }
  void operator()(const op::GroupBegin&) { piece(0, {}); }
  void operator()(const op::GroupEnd&) { piece(0, {}); }
  void operator()(const op::Backup& op) { named(op.name); }
  void operator()(const op::Restore& op) { named(op.name); }
  void operator()(const op::Clear&) { piece(0, {}); }
  void operator()(const op::Resize& op) {
    const Pos full = op.full / geometry_.page;
    const Pos swa = op.swa / geometry_.page;
    fits = fits && full < record_pages && swa < record_pages;
    piece(0, {full, full + swa});
  }
  template <typename Other>
  void operator()(const Other&) {
    fits = false;
  }

 private:
  std::uint8_t byte(Pos value) {
    fits = fits && value >= 0 && value <= std::numeric_limits<std::uint8_t>::max();
    return static_cast<std::uint8_t>(value & 0xff);
  }
  std::uint8_t row(Row row) {
    fits = fits && row < record_rows;
    return static_cast<std::uint8_t>(row % record_rows);
  }
  void named(std::uint32_t name) {
    piece(0, {});
    fits = fits && name < record_names;
    records.back().other = static_cast<std::uint8_t>(name % record_names);
  }
  void pieces(const std::vector<Piece>& all) {
    for (const Piece& one : all) {
      piece(one.row, one.range);
    }
  }
  void piece(Row of, Range range) {
    const std::uint8_t word = records.empty() ? word_ : static_cast<std::uint8_t>(word_ | more_pieces);
    fits = fits && range.begin <= most_length && range.size() <= most_length;
    records.push_back({word, row(of), static_cast<std::uint16_t>(range.begin & most_length),
                       static_cast<std::uint16_t>(range.size() & most_length), 0, 0});
  }

  std::uint8_t word_;
  const Geometry& geometry_;
};

}  // namespace

std::optional<Op> take_op(std::span<const std::uint8_t>& bytes, const Geometry& geometry) {
  std::optional<Op> op;
  while (bytes.size() >= op_record_bytes) {
    const OpRecord record = read(bytes);
    const bool piece = (record.word & more_pieces) != 0;
    if (op && !piece) {
      break;
    }
    if (op) {
      add_piece(*op, record);
    } else if (!piece) {
      op = op_of(static_cast<OpWord>(record.word % op_word_count), record, geometry);
    }
    bytes = bytes.subspan(op_record_bytes);
  }
  return op;
}

bool append_op(const Op& op, const Geometry& geometry, std::vector<std::uint8_t>& bytes) {
  Writer writer(word_of(op), geometry);
  std::visit([&](const auto& concrete) { writer(concrete); }, op);
  if (!writer.fits) {
    return false;
  }
  for (const OpRecord& record : writer.records) {
    append(bytes, record);
  }
  return true;
}

}  // namespace poolproof
